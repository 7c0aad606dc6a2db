"""What the bridge takes: disciplined convex problems, affine in their parameters, over real numbers."""

from .._errors import InputError, Refused
from . import names


def refuse(what, why, instead):
    """Raises the refusal that says what was found, why it is refused and what would be right."""
    raise Refused(what=what, why=why, instead=instead)


def admit(problem, private):
    """Raises unless the problem is over real and continuous variables, and `private` are parameters of it."""
    import cvxpy as cp

    if not isinstance(problem, cp.Problem):
        raise InputError(f"the first argument is a cvxpy.Problem; found {type(problem).__name__}")
    _parameters(problem, private)
    _no_indicator(problem.objective.expr)
    if not problem.variables():
        raise InputError("the problem has no variables: there is nothing to decide")
    for variable in problem.variables():
        _variable(variable)


def admit_curvature(stood, problem):
    """Raises unless `stood`, the problem with its public parameters as constants, is convex by CVXPY's rules, and DPP.

    The words are about the user's own `problem` where that breaks the same rule.
    """
    if not stood.is_dcp():
        what, why = _offender(problem if not problem.is_dcp() else stood, dpp=False)
        refuse(
            what, f"it is not DCP: {why}", "a formulation that follows CVXPY's rules of convexity (`problem.is_dcp()`)"
        )
    if not stood.is_dcp(dpp=True):
        what, why = _offender(problem if not problem.is_dcp(dpp=True) else stood, dpp=True)
        refuse(
            what,
            f"it is not DPP: {why}; CVXPY would replace the parameters by their values, and where the private numbers "
            "enter could not be told",
            "a formulation that is affine in its parameters (`problem.is_dpp()`): a product of two parameters becomes "
            "one parameter, a parameter in a curved function a variable that equals it",
        )


def _no_indicator(expression):
    from cvxpy.transforms.indicator import indicator

    if isinstance(expression, indicator):
        refuse(
            "an indicator in the objective",
            "what holds with the noise are the constraints of the problem, and those of the indicator are not among them",
            "the same constraints in the list of constraints",
        )
    for argument in getattr(expression, "args", []):
        _no_indicator(argument)


def _parameters(problem, private):
    import cvxpy as cp

    if not private:
        raise InputError("private= names no parameter: which cvxpy.Parameter holds the private numbers?")
    seen = set()
    known = {parameter.id for parameter in problem.parameters()}
    for parameter in private:
        if not isinstance(parameter, cp.Parameter):
            raise InputError(
                f"private= holds {names.of_expression(parameter)}, which is {type(parameter).__name__} and not a "
                "cvxpy.Parameter: private numbers are the values of parameters"
            )
        if parameter.id in seen:
            raise InputError(f"private= names the parameter `{parameter.name()}` twice")
        seen.add(parameter.id)
        if parameter.id not in known:
            has = ", ".join(f"`{p.name()}`" for p in problem.parameters()) or "none"
            raise InputError(
                f"`{parameter.name()}` in private= is no parameter of this problem; its parameters are: {has}"
            )
        if parameter.is_complex():
            refuse(
                f"the complex parameter `{parameter.name()}`",
                "private numbers are real",
                "two real parameters, for the real and the imaginary part",
            )


def _variable(variable):
    attributes = variable.attributes
    whole = [word for word in ("boolean", "integer") if attributes.get(word)]
    if whole:
        refuse(
            f"the variable `{variable.name()}`",
            f"it is {whole[0]}, and a problem with such variables is not convex",
            "a continuous variable with bounds, if the relaxation is what is meant",
        )
    if variable.is_complex():
        refuse(
            f"the variable `{variable.name()}`",
            "it is complex, and the noise is real",
            "two real variables, for the real and the imaginary part",
        )


def _offender(problem, dpp):
    """The constraint or objective that breaks the rules, and the smallest expression in it that does."""
    import cvxpy as cp

    def follows(expression):
        return expression.is_dcp(dpp=dpp)

    for index, part in enumerate([problem.objective, *problem.constraints]):
        if follows(part):
            continue
        where = "the objective" if index == 0 else f"constraint {index}, `{names.of_expression(part)}`,"
        inner = part
        while True:
            worse = [a for a in inner.args if isinstance(a, cp.Expression) and not follows(a)]
            if not worse:
                break
            inner = worse[0]
        if inner is part:
            return where.rstrip(","), f"`{names.of_expression(part)}` has the wrong curvature"
        return (
            f"`{names.of_expression(inner)}` in {where.rstrip(',')}",
            f"CVXPY cannot vouch for `{names.of_expression(inner)}`",
        )
    return "this problem", "CVXPY says so"
