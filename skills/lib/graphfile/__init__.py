"""``workflow.yaml``: read strictly, made into a Workflow, and compiled to the JSON that steps are printed from.

``compiling.compile_file`` is the way in; docs/workflow-yaml.md says what the file may hold.
"""
