"""The run explorer: the pages of ``lockstep web``, with all that they show as JSON too."""
