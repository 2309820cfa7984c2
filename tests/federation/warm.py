"""What the processes of hospitals need, loaded once: each is a fork of a server that has this.

Imports and what follows from code alone: nothing may run here that a fork would not take along.
"""

import importlib
import pkgutil

from numba.core.registry import cpu_target

from incrowd.report import page
from incrowd.verify import models

for name in (
    "duckdb",
    "httpcore",
    "httpx",
    "hypothesis.strategies",
    "scipy.stats",
    "starlette.applications",
    "starlette.responses",
    "starlette.routing",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.h11_impl",
    "incrowd.attacks.exposure",
    "incrowd.cli.commands.federation",
    "incrowd.cli.output.federation",
    "incrowd.counts.placed",
    "incrowd.federation.run.hospital",
    "incrowd.report.crowds",
    "incrowd.report.evidence",
    "incrowd.report.reporting",
    "incrowd.sources.csv",
    "incrowd.verify.counting.combinations",
    "federation_actors",
    "whole_run_deeds",
):
    importlib.import_module(name)
for package in (importlib.import_module("incrowd.methods"), models):
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
page.template("report.html")
