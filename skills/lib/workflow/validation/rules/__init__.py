"""The rules, in the order in which their findings about one step are listed."""

from __future__ import annotations

from types import ModuleType

from skills.lib.workflow.validation.rules import (
    bare_gate,
    bare_gate_call,
    colliding_id,
    dead_end,
    dispatch_from_sub_agent,
    duplicate_id,
    empty_workflow,
    fail_without_return,
    gate_without_review,
    handler_never_gives,
    handler_read_before_write,
    handler_read_on_some_paths,
    handler_unrouted_outcome,
    invalid_allow,
    iteration_limit,
    long_block,
    loop_without_bound,
    loop_without_exit,
    malformed_id,
    malformed_name,
    missing_title,
    no_end,
    numeric_id,
    read_before_write,
    read_on_some_paths,
    repeated_title,
    reserved_id,
    review_without_gate,
    route_never_given,
    shadowed_route,
    skill_command,
    skill_specification,
    trap,
    unknown_parameter_step,
    unknown_start,
    unknown_target,
    unreachable_step,
    unread_value,
    unresolved_convention,
    unresolved_handler,
    unresolved_resource,
    unresolved_script,
    unrouted_answer,
    unrouted_outcome,
)

# These look at a workflow's data alone: what they found good is sealed.
GRAPH_RULES: tuple[ModuleType, ...] = (
    malformed_name,
    empty_workflow,
    unknown_start,
    no_end,
    unknown_parameter_step,
    duplicate_id,
    malformed_id,
    numeric_id,
    reserved_id,
    colliding_id,
    unknown_target,
    unreachable_step,
    dead_end,
    trap,
    loop_without_exit,
    loop_without_bound,
    shadowed_route,
    route_never_given,
    unrouted_outcome,
    unrouted_answer,
    iteration_limit,
    read_before_write,
    read_on_some_paths,
    review_without_gate,
    gate_without_review,
    fail_without_return,
    bare_gate,
    missing_title,
    repeated_title,
    long_block,
    invalid_allow,
)

# These read the sources of handlers and the files that a workflow names.
SOURCE_RULES: tuple[ModuleType, ...] = (
    handler_unrouted_outcome,
    handler_never_gives,
    handler_read_before_write,
    handler_read_on_some_paths,
    unread_value,
    unresolved_handler,
    unresolved_script,
    unresolved_convention,
    unresolved_resource,
    bare_gate_call,
)

# These look at a folder of skills as a whole.
TREE_RULES: tuple[ModuleType, ...] = (dispatch_from_sub_agent, skill_specification, skill_command)

RULES: tuple[ModuleType, ...] = (*GRAPH_RULES, *SOURCE_RULES, *TREE_RULES)
NAMES: frozenset[str] = frozenset(rule.RULE for rule in RULES)
