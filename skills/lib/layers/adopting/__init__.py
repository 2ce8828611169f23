"""Makes the draft of a workflow from a SKILL.md that has none: deterministic, without a model, each guess marked.

``drafting.draft`` reads the Markdown (``markdown``), finds the structure that says how its procedure goes
(``structures``, with ``dot``, ``mermaid`` and ``flow`` for graphs) and gives each step its text, rules and fields
(``details``). ``writing.files`` makes the files of a draft, which ``placing`` writes where there are none.
"""
