"""Reference outputs: what a checkout prints, writes and sends for every kind of run, compared with another checkout's."""
