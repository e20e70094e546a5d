"""What people and probes say of judges: decisions on what runs made, ratings, passports, and rates corrected by them."""
