"""Sums, marks and bits of counts that no hospital shows another."""
