"""What happens in runs, told to whoever watches: a log for each run, the picture it comes to, and streams of it."""
