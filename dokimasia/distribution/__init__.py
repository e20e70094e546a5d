"""Many processes: a run's graphs walked by workers that Ray starts, for a driver that decides, keeps and counts."""
