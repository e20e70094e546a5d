"""What it takes to grow a capability tree from 10,000 and from 100,000 criteria."""
