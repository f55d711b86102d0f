package kvmatrix;

/** What an engine's documentation promises, in the order of kvm_promise. */
public enum Promise {
  NOT_OFFERED,
  LOSES_NOTHING,
  LOSES_NEWEST,
  MAY_BE_CORRUPT
}
