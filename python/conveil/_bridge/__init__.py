"""From a CVXPY problem to the conic form that the engine reads, with the user's names on it.

The road, top down, one module each:

    admit       refuse what is not convex, or not affine in its parameters
    stand_in    put public parameters of the same shape in the place of the private ones
    chain       CVXPY's own reductions, with which atom made which variable and which row
    form        the numbers: P, q, A, b, each constant plus affine in the private numbers
    reach       which auxiliary variables follow the noise, and which rows hold with it
    substitute  auxiliary variables that public equalities define are replaced
    meet        two limits that meet are one equality
    objective   the value of a cost as something that can be released
    query       affine expressions of the user as rows over the columns
    agree       the result against CVXPY's own data at a public point
    conic       the texts: spec, problem file, private values

No private value is read on this road: the private parameters are used for their shape, attributes and name, and
everything that is compiled or evaluated contains stand-ins in their place.
"""

from .conic import Conic
from .model import Model, read

__all__ = ["Conic", "Model", "read"]
