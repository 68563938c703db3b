"""HiGHS on an integer program in LP format, one thread: `highs_lp.py FILE GAP LIMIT`."""

import json
import sys

import highspy

file, gap, limit = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
solver = highspy.Highs()
for option, value in {"output_flag": False, "threads": 1, "mip_rel_gap": gap, "time_limit": limit}.items():
    solver.setOptionValue(option, value)
solver.readModel(file)
solver.run()
info = solver.getInfo()
limited = solver.getModelStatus() == highspy.HighsModelStatus.kTimeLimit
print(json.dumps({"value": info.objective_function_value, "bound": info.mip_dual_bound, "seconds": solver.getRunTime(), "limited": limited}))
