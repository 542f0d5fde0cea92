"""What can be known of a settings file before the first visitor comes: one file for each thing that is tried."""
