"""Keywords, each with its type and its text.

Written by python/signatures.py, from what the program says: do not edit.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from ._schema import Schema
    from ._synthesizer import Synthesizer

Method = Literal["auto", "mst", "aim", "mwem", "bayes", "smalldb", "wgan", "pategan"]
Adjacency = Literal["add-remove", "replace-one"]

# how the address of a table in another system begins, which a fit takes
ADDRESSES = ("sc://", "postgres://", "duckdb:")

# settings of methods that have another name there
RENAMED = {"smalldb_rows": "rows"}


class Settings(TypedDict, total=False):
    """
    one_way_share:
        mst: share of the budget (in ρ) for one-way marginals; default 0.5.
        aim: share for one-way marginals; default 0.05 to 0.75, by how noisy they are.
    select_share:
        mst: share for choosing the tree; default 0.1; the rest measures the pairs.
        aim: share of a round for its choice; default 0.1, with columns of fewer than 8 codes on
            average, or where noise is large beside the rows, 0.2.
        mwem: share of the budget for picking queries; default 0.2.
    group_sigmas: (mst) codes with a noisy count below this many σ are merged before pairs are
        measured; default 2.
    iterations: (mst) of the estimation; 0 = the default of package marginal.
    sets: (aim) columns joined by *, with an optional weight: age*sex*income=2.
    target_share: (aim) share of the budget for the pairs of the target; default 0.2 with a
        target, 0.15 without, for pairs of columns of two to four categories, and 1.4 times as
        much where noise is large beside the rows.
    memory_mb: (aim) memory of the fit besides the rows, in MB; default 80.
    rounds:
        mwem: number of queries that are measured; default 30, of a workload of marginals twice
            the columns, and never more than there are queries.
        pategan: votes; default 10.
    max_cells: (mwem) limit on the cells of the histogram or of the junction tree; default
        10,000,000.
    families: (bayes) in place of both: a column and its parents, joined by *, as in
        died*age*sofa; one that is first in none has no parents.
    prior: (bayes) rows of the prior in each cell of a family; default 1.
    alpha: (smalldb) error, as a share of the rows, that some multiset of the chosen size is
        sure to meet; default 0.3.
    smalldb_rows: (smalldb) size m of the multisets; default the least that alpha needs.
    mode: (wgan) of the certificate: residual, box, thesis or ball (clipped rows); default
        residual.
    steps: (wgan) critic steps, one release each; default 16.
    rate: (wgan) Poisson rate of a batch, in (0, 1]; default 1.
    marginal_share:
        wgan: share of the budget (in μ²) for the marginal model that the generator is distilled
            from; the rest is for the critic's gradients; default 0.9.
        pategan: share of the budget (in μ²) for the marginal model that the generator is
            distilled from; the rest is for votes; default 0.9.
    hidden: (wgan) units of each of the critic's hidden layers, of at most 16, as in [64, 128];
        default one of 64.
    engine: (wgan) of gradients at generated rows: kernels (hand-written) or gorgonia (automatic
        differentiation of Gorgonia graphs, several times slower); default kernels.
    lipschitz: (wgan) how the critic is held Lipschitz: penalty (at generated points, free),
        interpolates (between private and generated rows, paid), spectral or clip; default
        penalty.
    distil_steps:
        wgan: generator steps on the marginal model alone, before the first release; default
            1000.
        pategan: generator steps on the marginal model alone, before the first vote; default
            1000.
    generator_steps:
        wgan: generator steps after each release; default 5.
        pategan: generator steps after each vote; default 50.
    post_steps: (wgan) generator steps after the last one; default 200.
    aggregator: (pategan) of votes: gnmax (Gaussian noise), lnmax (Laplace noise), or Gaussian
        noise where only some questions have an answer: confident, on which teachers agree, and
        interactive, on which they differ from the student; default gnmax.
    questions: (pategan) generated rows a vote; default 200.
    directions: (pategan) G-PATE: teachers vote on that many random directions at each of
        questions/directions rows: which way is more real; default 0, is the row real.
    shard_rows: (pategan) rows a teacher should have: the number of teachers is the noisy number
        of rows over it; default 40.
    """

    one_way_share: float | None
    select_share: float | None
    group_sigmas: float | None
    iterations: int | None
    sets: Sequence[str] | None
    target_share: float | None
    memory_mb: int | None
    rounds: int | None
    max_cells: int | None
    families: Sequence[str] | None
    prior: float | None
    alpha: float | None
    smalldb_rows: int | None
    mode: str | None
    steps: int | None
    rate: float | None
    marginal_share: float | None
    hidden: Sequence[int] | None
    engine: str | None
    lipschitz: str | None
    distil_steps: int | None
    generator_steps: int | None
    post_steps: int | None
    aggregator: str | None
    questions: int | None
    directions: int | None
    shard_rows: int | None


class Plan(Settings, total=False):
    """
    adjacency: which tables are neighbours: add-remove or replace-one (default "add-remove").
    delta: probability in the guarantee, 0 to 0.001 (default 1e-09).
    method: synthesis method: auto, mst, aim, mwem, bayes, smalldb, wgan, pategan (default
        "auto").
    target: column that the synthetic table will be used to predict (of aim, bayes, wgan,
        pategan).
    workload: marginals or queries that must be accurate.
        aim: marginals that should be right: pairs, triples, or sets, which sets lists; default
            pairs.
        mwem: workload: the YAML text, or the path of a file of it. Default: all pairs of
            columns (all columns, if there is one).
        smalldb: workload: the YAML text, or the path of a file of it. Marginals count as their
            cells. Default: all pairs of columns (the column, if there is one).
    """

    adjacency: Adjacency | None
    delta: float | None
    method: Method
    target: str | None
    workload: str | None


class Fit(Plan, total=False):
    """
    max_rows_per_unit: how many rows of a unit are used, where unit is given.
    schema: public description of the columns: a Schema, the path of one, its text or a dict.
        Without it a third of the budget buys one, and the names of the columns become public.
    unit: id column: all rows with one id are one privacy unit (a schema names its own).
    links: of linked tables without a schema: which column of a table holds the ids of which of
        another, as in ["visits.patient_id=patients.patient_id"].
    order: of linked tables without a schema: the columns that order the rows of a unit, as in
        ["visits.date"].
    random_state: of sampling, which is public: a whole number gives the same rows each time; a
        numpy RandomState or Generator is drawn from; None is random. The noise of a fit has no
        seed.
    progress: whether a long run shows a bar, in a terminal or a notebook.
    """

    max_rows_per_unit: int | None
    schema: Schema | Mapping[str, Any] | str | os.PathLike[str] | None
    unit: str | None
    links: Sequence[str] | None
    order: Sequence[str] | None
    random_state: Any
    progress: bool


class Infer(TypedDict, total=False):
    """
    adjacency: which tables are neighbours: add-remove or replace-one (default "add-remove").
    delta: probability in the guarantee, 0 to 0.001 (default 1e-09).
    max_rows_per_unit: how many rows of a unit are used, where unit is given.
    partial: partial schema, as schema of a fit: only what is open in it is bought.
    target: column whose rare texts must keep a category.
    unit: id column: all rows with one id are one privacy unit (a schema names its own).
    progress: whether a long run shows a bar, in a terminal or a notebook.
    """

    adjacency: Adjacency | None
    delta: float | None
    max_rows_per_unit: int | None
    partial: Schema | Mapping[str, Any] | str | os.PathLike[str] | None
    target: str | None
    unit: str | None
    progress: bool


class Evaluate(TypedDict, total=False):
    """
    drop: columns not to predict from, such as those that give the answer away.
    holdout: frame of other real rows, which the synthesizer did not see.
    model: model of the synthetic frame, fitted or a file: its guarantee is verified and shown.
    positive: the value of the target that counts as positive (default the rarest).
    report: page of HTML to write, with all figures. It is not private, either.
    target: column to predict.
    random_state: of subsamples and bootstraps, which is public (default 1).
    progress: whether a long run shows a bar, in a terminal or a notebook.
    """

    drop: Sequence[str] | None
    holdout: Any
    model: Synthesizer | str | os.PathLike[str] | None
    positive: str | int | None
    report: str | os.PathLike[str] | None
    target: str | None
    random_state: Any
    progress: bool
