package engines;

import kvmatrix.Description;
import kvmatrix.Durability;
import kvmatrix.Options;
import kvmatrix.Promise;
import kvmatrix.Scans;
import org.iq80.leveldb.impl.Iq80DBFactory;

/** LevelDB rewritten in Java. https://github.com/dain/leveldb */
public final class Iq80LevelDb extends LevelDbApi {
  private static final String DOCUMENT = "https://github.com/dain/leveldb/tree/0.12";

  public static final Description DESCRIPTION =
      addFlags(new Description("Apache-2.0", Scans.FORWARD).codec("snappy"))
          .promise(Durability.BUFFERED, Promise.LOSES_NEWEST, DOCUMENT)
          .promise(Durability.CONSISTENT, Promise.LOSES_NEWEST, DOCUMENT)
          .promise(Durability.DURABLE, Promise.LOSES_NOTHING, DOCUMENT);

  public Iq80LevelDb(Options options) throws Exception {
    super(Iq80DBFactory.factory, options);
  }

  @Override
  public void settle() throws Exception {}
}
