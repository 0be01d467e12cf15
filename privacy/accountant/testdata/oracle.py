"""Writes oracle.json, reference values of the accountant from independent programs. Run by hand; building and testing need Go alone.

    pip install dp-accounting==0.6.0 mpmath==1.3.0 && python oracle.py > oracle.json
"""
import itertools
import json

import mpmath as mp
from dp_accounting import privacy_accountant
from dp_accounting.pld import common, privacy_loss_distribution as pld

NEIGHBOURS = {
    "add-remove": privacy_accountant.NeighboringRelation.ADD_OR_REMOVE_ONE,
    "replace-one": privacy_accountant.NeighboringRelation.REPLACE_ONE,
}
mp.mp.dps = 60


def phi(x):
    return mp.ncdf(x)


def normal():
    rows = []
    for x in ("-45", "-30.5", "-29.5", "-12.25", "-3", "-0.5", "0", "1.5", "8"):
        rows.append({"x": float(x), "log_phi": float(mp.log(phi(mp.mpf(x))))})
    masses = []
    for a in (-12.0, -9.5, -3.0, -0.25, 0.0, 0.125, 2.0, 7.75, 11.0):
        for w in (1e-6, 1e-3, 0.003, 0.0039, 0.004, 0.01, 0.035, 0.05, 0.3, 2.0, 15.0):
            b = a + w
            masses.append({"a": a, "b": b, "mass": float(phi(mp.mpf(b)) - phi(mp.mpf(a)))})
    return {"log_phi": rows, "masses": masses}


def gdp():
    rows = []
    for mu in (0.001, 0.02, 0.3, 1.0, 3.0, 12.0):
        for k in (0.0, 1.0, 3.0, 6.0):
            eps = k * mu
            m, e = mp.mpf(mu), mp.mpf(eps)
            d = phi(m / 2 - e / m) - mp.e ** e * phi(-m / 2 - e / m)
            rows.append({"mu": mu, "epsilon": eps, "delta": float(d)})
    return rows


def rdp():
    mp.mp.dps = 30
    rows = []
    for q, s, a in ((0.01, 2.5, 1.5), (0.01, 1.0, 2.0), (0.001, 0.7, 3.25), (0.2, 4.0, 17.0), (0.5, 1.3, 9.5), (0.9, 0.8, 2.75), (1e-5, 1.0, 4.5)):
        q_, s_, a_ = mp.mpf(q), mp.mpf(s), mp.mpf(a)
        n = lambda x, m: mp.npdf(x, m, s_)
        mix = lambda x, m: (1 - q_) * n(x, 0) + q_ * n(x, m)
        pts = [-16 * s - a, -8 * s, -2 * s, 0, 1, a / 2, a, a + 4 * s, a + 16 * s]
        pts = sorted(set(pts))
        for name, p, r in (("add-remove", lambda x: mix(x, 1), lambda x: n(x, 0)), ("replace-one", lambda x: mix(x, 1), lambda x: mix(x, -1))):
            v = mp.log(mp.quad(lambda x: p(x) ** a_ * r(x) ** (1 - a_), pts)) / (a_ - 1)
            rows.append({"rate": q, "noise_multiplier": s, "alpha": a, "adjacency": name, "rdp": float(v)})
    return rows


def make(event, adjacency, h, pessimistic):
    kind, kw = event["event"], dict(value_discretization_interval=h, pessimistic_estimate=pessimistic)
    if kind == "gaussian":
        p = pld.from_gaussian_mechanism(event["noise_multiplier"], use_connect_dots=pessimistic, **kw)
    elif kind == "subsampled-gaussian":
        p = pld.from_gaussian_mechanism(
            event["noise_multiplier"], sampling_prob=event["rate"], neighboring_relation=NEIGHBOURS[adjacency],
            use_connect_dots=pessimistic, **kw)
    elif kind == "discrete-gaussian":
        p = pld.from_discrete_gaussian_mechanism(
            event["noise_multiplier"] * event["sensitivity"], sensitivity=event["sensitivity"], **kw)
    else:  # laplace stands for randomised response here; its losses are multiples of h, so one estimate is both
        parameters = common.DifferentialPrivacyParameters(event["epsilon"], event.get("delta", 0))
        p = pld.from_privacy_parameters(parameters, value_discretization_interval=h)
    return p.self_compose(event["count"]) if event["count"] > 1 else p


def compositions():
    g = lambda z, n: {"event": "gaussian", "noise_multiplier": z, "count": n}
    s = lambda q, z, n: {"event": "subsampled-gaussian", "rate": q, "noise_multiplier": z, "count": n}
    d = lambda z, k, n: {"event": "discrete-gaussian", "noise_multiplier": z, "sensitivity": k, "count": n}
    l = lambda e, n: {"event": "laplace", "epsilon": e, "count": n}
    a = lambda e, dl, n: {"event": "approx", "epsilon": e, "delta": dl, "count": n}
    cases = [
        ([s(0.01, 0.7, 60)], 1e-4), ([s(0.001, 1.0, 3000)], 1e-5), ([s(0.1, 2.0, 200)], 1e-4), ([s(0.3, 0.5, 2)], 1e-4), ([s(0.9, 3.0, 20)], 1e-4),
        ([l(0.1, 100)], 1e-4), ([l(2.0, 3)], 1e-4), ([a(0.2, 1e-6, 3)], 1e-4),
        ([g(6.0, 10), l(0.1, 20)], 1e-4), ([g(5.0, 3), s(0.05, 1.5, 100), d(10.0, 1, 8)], 1e-4),
    ]
    rows = []
    for (c, h), adj, delta in itertools.product(cases, ("add-remove", "replace-one"), (1e-5, 1e-7)):
        if adj == "replace-one" and not any(e["event"] == "subsampled-gaussian" for e in c):
            continue
        if max(e["count"] for e in c) >= 100 and h < 1e-4 and (adj, delta) != ("add-remove", 1e-7):
            continue  # slow
        eps = {}
        pure = [e["event"] in ("laplace", "approx") for e in c]
        for pess in (True, False) if not any(pure) else (True,):
            p = None
            for e in c:
                r = make(e, adj, h, pess)
                p = r if p is None else p.compose(r)
            eps[pess] = p.get_epsilon_for_delta(delta)
        if eps[True] == float("inf"):
            continue
        rows.append({"composition": c, "adjacency": adj, "delta": delta, "upper": eps[True], "lower": eps.get(False, 0 if not all(pure) else eps[True])})
    return rows


if __name__ == "__main__":
    print(json.dumps({
        "origin": "normal, gdp, rdp: mpmath 1.3.0; compositions: dp-accounting 0.6.0 (PyPI), pessimistic and optimistic estimates; written by oracle.py",
        "normal": normal(), "gdp": gdp(), "rdp": rdp(), "compositions": compositions()}, indent=1))
