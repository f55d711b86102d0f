package kvmatrix;

import java.util.concurrent.Callable;

/** Finds out when an engine is idle that cannot say so, by a state that its work changes. */
public final class Idle {
  private final Callable<?> state;
  private Object last;

  /** Begins with a state that is equal to itself as long as the engine is idle. */
  public Idle(Callable<?> state) {
    this.state = state;
  }

  /** Returns whether the state is still that at the end of the last {@link #await}. */
  public boolean isStill() throws Exception {
    return state.call().equals(last);
  }

  /** Waits until the state is the same after a pause as before it. */
  public void await(long pauseMs) throws Exception {
    Object before;
    last = state.call();
    do {
      Thread.sleep(pauseMs);
      before = last;
      last = state.call();
    } while (!last.equals(before));
  }
}
