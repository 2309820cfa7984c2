"""Global labels: one cut of every tree, carried down while that loses less; the rest is hidden.

A value has one label wherever it is shown. Where a node of a cut is replaced by its children, rows
that would expose somebody by theirs are hidden, which costs as much as telling nothing; so a
node is replaced only if all rows together lose less then.
"""

from __future__ import annotations

import heapq

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.methods.histories._board import Board
from incrowd.methods.histories._clock import Clock
from incrowd.methods.histories._counting import Small

_EQUAL = 1e-9


class GlobalCuts:
    """The node that each code shows, on every axis of all facts."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.shown = [
            [np.zeros(len(paths.nodes), dtype=np.int32) for paths in axes]
            for axes in board.rows.paths
        ]
        """`shown[f][axis][leaf]`: what rows with a lowest node show."""

    def go_down(self, clock: Clock) -> None:
        """Replace nodes by their children, where most may be gained first."""
        rows = self.board.rows
        queue = [
            (-self._gain(f, axis, 0), f, axis, 0)
            for f in rows.of_range
            for axis in range(len(rows.paths[f]))
        ]
        heapq.heapify(queue)
        while queue and clock.goes_on():
            gain, f, axis, node = heapq.heappop(queue)
            if gain < 0 and self._replaced(f, axis, node):
                for child in np.unique(self._children(f, axis, node)):
                    if child != node:
                        heapq.heappush(queue, (-self._gain(f, axis, child), f, axis, int(child)))
        for f in rows.of_range:
            if not rows.joint[f]:
                self._show(f, self.board.hidden[f])

    def show_codes(self) -> None:
        """Let all codes show themselves, but for those of a joint tuple; or else nothing."""
        rows = self.board.rows
        for f in rows.of_range:
            if not rows.joint[f]:
                self.shown[f] = [p.nodes[:, p.deepest].copy() for p in rows.paths[f]]
                self._show(f, self.board.hidden[f])

    def _children(self, f: int, axis: int, node: int) -> Small:
        """The nodes right below one, for every lowest node below it."""
        paths = self.board.rows.paths[f][axis]
        depth = int(paths.depth[node])
        if depth == paths.deepest:
            return np.zeros(0, dtype=np.int32)
        found: Small = paths.nodes[paths.nodes[:, depth] == node, depth + 1]
        return found

    def _under(self, f: int, axis: int, node: int) -> Small:
        """The rows of the facts whose code lies below a node."""
        rows, paths = self.board.rows.of_facts[f], self.board.rows.paths[f][axis]
        leaf = self.board.rows.leaf[axis, rows]
        below: Small = rows[paths.nodes[leaf, int(paths.depth[node])] == node]
        return below

    def _gain(self, f: int, axis: int, node: int) -> float:
        """What is gained at most when the children of a node take its place."""
        paths = self.board.rows.paths[f][axis]
        depth = min(int(paths.depth[node]) + 1, paths.deepest)
        leaf = self.board.rows.leaf[axis, self._under(f, axis, node)]
        loss = len(leaf) * paths.loss[node] - paths.loss[paths.nodes[leaf, depth]].sum()
        return float(loss) / len(self.board.rows.paths[f])

    def _replaced(self, f: int, axis: int, node: int) -> bool:
        """Let the children of a node take its place, if that loses less; whether they did."""
        board, paths = self.board, self.board.rows.paths[f][axis]
        below = self._under(f, axis, node)
        state, loss, cut = board.state_of(below), board.loss(), self.shown[f][axis]
        depth = int(paths.depth[node])
        inside = paths.nodes[:, depth] == node
        self.shown[f][axis] = np.where(inside, paths.nodes[:, depth + 1], cut).astype(np.int32)
        if board.rows.joint[f]:
            done = self._move_all(f, axis, node)
        else:
            for number, label in enumerate(list(board.labels)):
                if label[0] == f and label[1 + axis] == node and len(board.rows_at[number]):
                    board.hide(f, number)
            hidden = board.hidden[f]
            leaf = board.rows.leaf[axis, hidden]
            self._show(f, hidden[paths.nodes[leaf, depth] == node])
            done = True
        if done and board.loss() < loss - _EQUAL:
            return True
        board.take_back(state)
        self.shown[f][axis] = cut
        return False

    def _labels(self, f: int, rows: Small) -> tuple[IntArray, Small]:
        """The labels that rows are to show, and which each is."""
        nodes = [cut[self.board.rows.leaf[axis, rows]] for axis, cut in enumerate(self.shown[f])]
        return self.board.numbers(f, np.array(nodes, dtype=np.int32))

    def _show(self, f: int, rows: Small) -> None:
        """Let hidden rows show their labels, the most frequent first, if that exposes nobody."""
        if not self.board.rows.events[f]:
            rows = rows[self.shown[f][0][self.board.rows.leaf[0, rows]] > 0]
        if len(rows):
            targets, which = self._labels(f, rows)
            order = np.argsort(-np.bincount(which, minlength=len(targets)), kind="stable")
            place = np.argsort(order).astype(np.int32)
            self.board.move(f, -1, rows, targets[order], place[which])

    def _move_all(self, f: int, axis: int, node: int) -> bool:
        """Let all rows that show a node on an axis show its child; whether all could."""
        board = self.board
        for number, label in enumerate(list(board.labels)):
            rows = board.rows_at[number]
            if label[0] == f and label[1 + axis] == node and len(rows):
                targets, which = self._labels(f, rows)
                goes = targets[which] != number
                if int(goes.sum()) != board.move(f, number, rows[goes], targets, which[goes]):
                    return False
        return True
