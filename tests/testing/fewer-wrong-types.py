"""Hook of schemathesis. It makes a value of each wrong type for each place of a request. The services refuse those of
one place alike: two are sent, the second of another type from place to place."""

from collections import Counter

import schemathesis
from schemathesis.generation.meta import CoverageScenario

made = Counter()


@schemathesis.hook
def filter_case(context, case):
    data = case.meta and case.meta.phase.data
    if getattr(data, "scenario", None) != CoverageScenario.INCORRECT_TYPE:
        return True
    place = (case.operation.label, data.description, data.parameter_location, data.parameter, data.location)
    made[place] += 1
    return made[place] == 1 or made[place] == 2 + len(made) % 4
