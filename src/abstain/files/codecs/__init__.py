"""The values of this library as fields and arrays, and back."""
