package kvmatrix;

/** What a crash of the machine may cost, in the order of kvm_durability. */
public enum Durability {
  BUFFERED,
  CONSISTENT,
  DURABLE
}
