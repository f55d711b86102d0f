package kvmatrix;

/** Says that the engine cannot do what is requested. */
public final class Unsupported extends Exception {
  private static final long serialVersionUID = 1;

  public Unsupported(String reason) {
    super(reason);
  }
}
