package kvmatrix;

/** The scans that an engine offers, in the order of kvm_scans. */
public enum Scans {
  UNORDERED,
  FORWARD,
  BOTH_WAYS
}
