"""What a run of each skill costs its agents, in characters read and typed: a scripted honest agent with real texts.

The texts stand in ``texts/``, one file for each skill and one for the project that all of them are walked on. They hold
what is said, apart from the form in which a block asks for it, and are not changed to meet a bound.

Read      Standard output of every command of the run's tree, children and refusals included, and each file that a block
          hands to its reader, each time that it does: a value in CONTEXT that stands in a file or is the path of one,
          and a file of the run or a resource of the skill that DO says to read, open or mend. Files of the project,
          and SKILL.md, count on neither side.
Typed     Every command of the tree, and every file that is written for a report: record files, and what a step asks for
          by path. A child's command is typed once, by whoever runs it. A person's answer at a terminal is the person's.
Repeated  What is read again letter for letter: lines that were printed before in the same tree.
Plain     The plain way, for comparison: the skill as one document of prose, read once, and the answer, typed once. The
          document is each line of DO and FORBIDDEN and each note of RECORD that the walk was shown, once, and the
          resources of the skill that were read, once. The answer is what the outermost runs recorded in their last
          step, the files that it names, and the lines that the project's files have beyond those of the beginning.

Each skill is walked once, to its end, as its texts lead: planner with its executor, prompt-engineer by its scope
single-prompt, deepthink in full with three perspectives, solution-design with three. Of the five gates of planner and
executor two fail once, of doc-sync and refactor the one. Paths of the machine are replaced by others of a fixed
length, so that the figures are the same everywhere; only where a block is close to its limit a path's length may
decide which value goes into a file.
"""
