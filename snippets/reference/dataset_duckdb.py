"""The handbook's dataset in DuckDB: three lines, and each number stands beside its host."""

import duckdb

values = duckdb.sql("""select unnest("values", recursive := true) from 'handbook.json'""")
results = duckdb.sql("select unnest(results, recursive := true) from 'handbook.json'")
table = duckdb.sql("select * from values join results using (snippet, host)")

((numbers,),) = table.filter("number is not null").aggregate("count(*)").fetchall()
print(f"{len(values)} values of {len(results)} results")
print(f"joined: {len(table)}, of which {numbers} are numbers\n")
chosen = table.filter("state = 'current' and value = 'autocast'").order("host")
print(chosen.project("host, torch, cpu_capability, number"), end="")

# /// script
# requires-python = ">=3.11"
# dependencies = ["duckdb>=1.2"]
#
# [tool.capture]
# title = "The dataset in DuckDB"
# files = ["handbook.json"]
#
# [tool.capture.values]
# values = '^(\d+) values of'
# joined = '^joined: (\d+),'
#
# [tool.capture.claims.every-value-has-its-result]
# says  = "every value of the dataset finds the result that it was taken from"
# holds = "joined == values"
# ///
