"""The handbook's dataset in pandas: three lines, and each number stands beside its host."""

import pandas

data = pandas.read_json("handbook.json", typ="series")
values, results = pandas.DataFrame(data["values"]), pandas.DataFrame(data["results"])
table = values.merge(results, on=["snippet", "host"])

print(f"schema {data['schema']}: {len(values)} values of {len(results)} results")
print(f"joined: {len(table)}, of which {table['number'].notna().sum()} are numbers\n")
chosen = table[(table["state"] == "current") & (table["value"] == "autocast")]
print(chosen[["host", "torch", "cpu_capability", "number"]].to_string(index=False))

# /// script
# requires-python = ">=3.11"
# dependencies = ["pandas>=2.2"]
#
# [tool.capture]
# title = "The dataset in pandas"
# files = ["handbook.json"]
#
# [tool.capture.values]
# schema = '^schema (\d+):'
# values = ': (\d+) values of'
# joined = '^joined: (\d+),'
#
# [tool.capture.claims.every-value-has-its-result]
# says  = "every value of the dataset finds the result that it was taken from"
# holds = "joined == values"
# ///
