"""docs/plan.schema.json accepts every plan of the corpus and no document of broken.json.

usage: plan_schema.py SOURCE_ROOT
"""

import json
import pathlib
import sys

import jsonschema


def main(root: pathlib.Path) -> int:
    schema = json.loads((root / "docs/plan.schema.json").read_text())
    validator_class = jsonschema.validators.validator_for(schema)
    validator_class.check_schema(schema)
    validator = validator_class(schema)
    wrong = []

    plans = [p for p in (root / "corpus").rglob("*.json") if "imports" not in p.parts]
    for path in sorted(plans):
        error = jsonschema.exceptions.best_match(validator.iter_errors(json.loads(path.read_text())))
        if error:
            wrong.append(f"{path}: {error.json_path}: {error.message}")

    broken = json.loads((root / "tests/schema/broken.json").read_text())
    wrong += [f"accepted though broken: {case['why']}" for case in broken if validator.is_valid(case["plan"])]

    print("\n".join(wrong))
    print(f"{len(plans)} plans, {len(broken)} broken documents, {len(wrong)} wrong")
    return 1 if wrong or len(plans) < 200 or not broken else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
