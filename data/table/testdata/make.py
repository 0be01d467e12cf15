"""Writes the Parquet files of this folder, with pyarrow 26.0.1.

types-*.parquet hold one table of every flat type in different encodings,
compressions and versions, types.csv its cells as text; refused-nested.parquet has
columns that are not flat.
"""
import csv
import datetime as dt
import decimal
import pyarrow as pa
import pyarrow.parquet as pq

N = 9
D = decimal.Decimal


def column(values, kind):
    values = list(values)
    values[3] = None  # every column has one null
    return pa.array(values, kind)


def moments(unit):
    step = dt.timedelta(days=400, hours=7, seconds=11)
    start = dt.datetime(1969, 12, 1, 23, 59, 58)
    return [start + i * step for i in range(N)]


days = [dt.date(1960, 2, 29) + dt.timedelta(days=3333 * i) for i in range(N)]
columns = {
    "dict": column(["a", "b", "c"] * 3, pa.dictionary(pa.int8(), pa.string())),
    "string": column([f"text {i * i}" for i in range(N)], pa.string()),
    "prefix": column([f"shared/prefix/{i}" for i in range(N)], pa.large_string()),
    "binary": column([b"x" * i for i in range(N)], pa.binary()),
    "fixed": column([b"%04d" % i for i in range(N)], pa.binary(4)),
    "bool": column([i % 3 == 0 for i in range(N)], pa.bool_()),
    "i8": column([-128 + i for i in range(N)], pa.int8()),
    "i16": column([-32768 + i for i in range(N)], pa.int16()),
    "i32": column([-(2**31) + i for i in range(N)], pa.int32()),
    "i64": column([-(2**63) + i for i in range(N)], pa.int64()),
    "u8": column([255 - i for i in range(N)], pa.uint8()),
    "u16": column([65535 - i for i in range(N)], pa.uint16()),
    "u32": column([2**32 - 1 - i for i in range(N)], pa.uint32()),
    "u64": column([2**64 - 1 - i for i in range(N)], pa.uint64()),
    "f16": column([pa.scalar(i / 4 - 1).as_py() for i in range(N)], pa.float16()),
    "f32": column([i / 10 for i in range(N)], pa.float32()),
    "f64": column([i / 10 - 0.3 for i in range(N)], pa.float64()),
    "d9": column([D(i - 4) / 10 for i in range(N)], pa.decimal128(5, 1)),
    "d18": column([D(i - 4) * 123456789 / 100 for i in range(N)], pa.decimal128(18, 2)),
    "d38": column([D(i - 4) * 10**20 / 4 for i in range(N)], pa.decimal128(38, 3)),
    "d76": column([D(i - 4) * 10**40 for i in range(N)], pa.decimal256(76, 0)),
    "date32": column(days, pa.date32()),
    "date64": column(days, pa.date64()),
    "ts_s": column(moments("s"), pa.timestamp("s")),
    "ts_ms": column(moments("ms"), pa.timestamp("ms")),
    "ts_us": column(moments("us"), pa.timestamp("us", "UTC")),
    "ts_ns": column(moments("ns"), pa.timestamp("ns", "Europe/Paris")),
    "null": pa.nulls(N),
    "full": pa.array([i // 4 for i in range(N)], pa.int64()),
}
table = pa.table(
    list(columns.values()),
    schema=pa.schema([pa.field(k, v.type, nullable=k != "full") for k, v in columns.items()]),
)
plain = table.set_column(0, "dict", table["dict"].cast(pa.string()))


def write(name, t, to="types", **options):
    pq.write_table(t, f"{to}-{name}.parquet", store_schema=False, write_statistics=False, **options)


write("dictionary", table, compression="snappy")
write("v2", table, compression="zstd", data_page_version="2.0")
write("v2-plain", plain, compression="none", data_page_version="2.0", use_dictionary=False)
write("groups", table, compression="gzip", row_group_size=2)
write("pages", plain, compression="brotli", use_dictionary=False, data_page_size=1, write_batch_size=2)
write("integers", table, compression="none", store_decimal_as_integer=True)
write("int96", table, compression="none", use_deprecated_int96_timestamps=True)
delta = {}
for k in columns:
    if k[0] in "iu" or k.startswith("ts_") or k.startswith("date") or k == "full":
        delta[k] = "DELTA_BINARY_PACKED"
    elif k in ("dict", "string"):
        delta[k] = "DELTA_LENGTH_BYTE_ARRAY"
    elif k in ("prefix", "fixed"):
        delta[k] = "DELTA_BYTE_ARRAY"
    elif k in ("f32", "f64", "d18"):
        delta[k] = "BYTE_STREAM_SPLIT"
    elif k == "bool":
        delta[k] = "RLE"
write("delta", plain, "refused", compression="none", use_dictionary=False, column_encoding=delta)
write("delta-v2", plain, "refused", compression="zstd", use_dictionary=False, column_encoding=delta, data_page_version="2.0")
split = {k: "BYTE_STREAM_SPLIT" for k in ("i32", "i64", "u8", "f32", "f64", "f16", "d9", "fixed", "ts_us")}
write("split", plain, "refused", compression="none", use_dictionary=False, column_encoding=split)



def text(name, value):
    """A cell as the Go writers would have it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, D):
        return f"{value:.{columns[name].type.scale}f}"
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ") if value.tzinfo else value.isoformat() + "Z"
    if isinstance(value, float) and name == "f32":
        value = round(value, 6)
    return str(value).removesuffix(".0")


with open("types.csv", "w") as f:
    out = csv.writer(f, lineterminator="\n")
    out.writerow(columns)
    for i in range(N):
        out.writerow(text(k, v[i].as_py()) for k, v in columns.items())

# Longer columns, for runs and batches that end within a page.
M = 5000
long = pa.table(
    {
        "run": pa.array([i // 700 for i in range(M)], pa.int32()),
        "mixed": pa.array([i * i % 7 if i % 5000 < 2500 else 3 for i in range(M)], pa.int64()),
        "sparse": pa.array([i % 100 if i % 3 else None for i in range(M)], pa.int64()),
        "word": pa.array([f"w{i % 300}" for i in range(M)], pa.string()),
        "flag": pa.array([i % 1000 < 500 if i % 11 else None for i in range(M)], pa.bool_()),
    }
)
pq.write_table(long, "long-dictionary.parquet", compression="zstd", store_schema=False, write_statistics=False)

nested = pa.table(
    {
        "list": pa.array([[1, 2], None, []], pa.list_(pa.int64())),
        "a": pa.array(["x", "y", "x"]),
        "struct": pa.array([{"a": 1, "b": 2}] * 3, pa.struct([("a", pa.int64()), ("b", pa.int64())])),
        "b": pa.array([1, 2, 3], pa.int64()),
        "time": pa.array([dt.time(1, 2, 3)] * 3, pa.time32("s")),
    }
)
pq.write_table(nested, "refused-nested.parquet", store_schema=False, write_statistics=False, compression="none")
