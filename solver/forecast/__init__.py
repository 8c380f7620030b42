"""What a solve will take, told beforehand: positions counted or sampled, time, memory and disk as measured ranges."""
