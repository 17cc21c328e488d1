// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Classes compiled against MPJ Express run on ours; skipped where it is not installed
 * (libmpj-java).
 */
@Timeout(300)
class CompatibilityTest {
  private static final Path JAR = Path.of("/usr/share/mpj/lib/mpj.jar");

  /** What docs/mpj-api.md says is not there. */
  private static final Set<String> MISSING =
      Set.of(
          "MPI.DEBUG",
          "MPI.isOldSelected",
          "MPI.Buffer_detach()void",
          "Comm.group",
          "Comm.mpjdevComm",
          "Comm.Pack(Object,int,int,Datatype,Buffer,int)int",
          "Comm.Unpack(Buffer,int,Object,int,int,Datatype)int",
          "Group.code",
          "Group.mpjdevGroup",
          "Datatype.baseType",
          "Datatype.getType()int",
          "Request.req",
          "Op.opCode",
          "Group.finalize()void",
          "Datatype.finalize()void",
          "Request.finalize()void",
          "Op.finalize()void");

  private static final String[] CLASSES = {
    "MPI",
    "Comm",
    "Intracomm",
    "Intercomm",
    "Cartcomm",
    "Graphcomm",
    "Group",
    "Datatype",
    "Status",
    "Request",
    "Prequest",
    "Op",
    "User_function",
    "Errhandler",
    "CartParms",
    "GraphParms",
    "ShiftParms",
    "MPIException"
  };

  private static final String PROGRAM =
      """
      import mpi.*;
      public class Ported {
        public static void main(String[] args) throws Exception {
          MPI.Init(args);
          int me = MPI.COMM_WORLD.Rank(), n = MPI.COMM_WORLD.Size();
          if (MPI.NUM_OF_PROCESSORS != Runtime.getRuntime().availableProcessors()) System.exit(8);
          int[] mine = {me, me * 10};
          if (me == 0) {
            for (int i = 1; i < n; i++) {
              int[] got = new int[2];
              Status s = MPI.COMM_WORLD.Recv(got, 0, 2, MPI.INT, MPI.ANY_SOURCE, 5);
              if (got[1] != s.source * 10 || s.Get_count(MPI.INT) != 2 || s.tag != 5) System.exit(9);
            }
          } else {
            Request r = MPI.COMM_WORLD.Isend(mine, 0, 2, MPI.INT, 0, 5);
            r.Wait();
          }
          double[] sum = new double[1];
          MPI.COMM_WORLD.Allreduce(new double[] {me}, 0, sum, 0, 1, MPI.DOUBLE, MPI.SUM);
          Object[] objects = {me == 0 ? "word" : null};
          MPI.COMM_WORLD.Bcast(objects, 0, 1, MPI.OBJECT, 0);
          Op max = new Op(new User_function() {
            public void Call(Object in, int i, Object inout, int j, int count, Datatype t) {
              for (int k = 0; k < count; k++)
                ((int[]) inout)[j + k] = Math.max(((int[]) in)[i + k], ((int[]) inout)[j + k]);
            }
          }, true);
          int[] most = new int[1];
          MPI.COMM_WORLD.Reduce(mine, 1, most, 0, 1, MPI.INT, max, 0);
          Intracomm half = MPI.COMM_WORLD.Split(me % 2, me);
          Datatype column = Datatype.Vector(2, 1, 2, MPI.INT);
          column.Commit();
          Cartcomm grid = half.Create_cart(new int[] {half.Size()}, new boolean[] {true}, false);
          ShiftParms shift = grid.Shift(0, 1);
          if (me == 0) {
            System.out.println(sum[0] + " " + objects[0] + " " + most[0] + " " + half.Size() + " "
                + shift.rank_dest + " " + column.Extent());
          }
          MPI.COMM_WORLD.Barrier();
          MPI.Finalize();
        }
      }
      """;

  @BeforeEach
  void mpjExpressIsThere() {
    assumeTrue(Files.isReadable(JAR), "no MPJ Express: install libmpj-java");
  }

  /** Where the bytes of a class are. */
  private interface Source {
    InputStream open(String file) throws IOException;
  }

  /** Public members of a class and its superclasses in the package, read without loading it. */
  private static Set<String> members(String name, Source source) throws IOException {
    Set<String> names = new TreeSet<>();
    String file = "mpi/" + name;
    while (file.startsWith("mpi/")) {
      ClassModel model;
      try (InputStream in = source.open(file + ".class")) {
        model = ClassFile.of().parse(in.readAllBytes());
      }
      for (FieldModel field : model.fields()) {
        if (field.flags().has(AccessFlag.PUBLIC)) {
          names.add(field.fieldName().stringValue());
        }
      }
      for (MethodModel method : model.methods()) {
        String called = method.methodName().stringValue();
        if (method.flags().has(AccessFlag.PUBLIC) && !called.startsWith("<")) {
          names.add(called + method.methodTypeSymbol().displayDescriptor());
        }
      }
      file = model.superclass().orElseThrow().asInternalName();
    }
    return names;
  }

  @Test
  void everyMemberOfMpjExpressIsHereButForTheListed() throws Exception {
    Set<String> missing = new TreeSet<>();
    try (JarFile theirs = new JarFile(JAR.toFile())) {
      for (String name : CLASSES) {
        Set<String> here = members(name, file -> mpi.MPI.class.getResourceAsStream("/" + file));
        members(name, file -> theirs.getInputStream(theirs.getEntry(file))).stream()
            .filter(member -> !here.contains(member))
            .filter(member -> !inherited(name, member))
            .forEach(member -> missing.add(name + "." + member));
      }
    }
    missing.removeAll(MISSING);
    assertThat(missing).isEmpty();
  }

  /** A subclass lacks what its superclass lacks. */
  private static boolean inherited(String name, String member) {
    return (MISSING.contains("Comm." + member) && name.endsWith("comm"))
        || (MISSING.contains("Datatype." + member) && name.equals("Datatype"))
        || (MISSING.contains("Request." + member) && name.equals("Prequest"));
  }

  @Test
  void aProgramCompiledAgainstMpjExpressRuns(@TempDir Path folder) throws Exception {
    Path source = Files.writeString(folder.resolve("Ported.java"), PROGRAM);
    String jars = JAR + ":" + JAR.getParent() + "/mpjdev.jar:" + JAR.getParent() + "/mpjbuf.jar";
    ChildProcess.command(ChildProcess.jdkProgram("javac"), "-nowarn", "-cp", jars, source)
        .runSuccessfully(Duration.ofMinutes(2));
    Launched job = Launched.start("-np", "4", "-cp", folder.toString(), "Ported");
    assertThat(job.status()).as(job.err()).isZero();
    assertThat(job.out()).isEqualTo("6.0 word 30 2 1 3\n");
    job = Launched.start("-np", "4", "-dev", "sm", "-cp", folder.toString(), "Ported");
    assertThat(job.status()).as(job.err()).isZero();
    assertThat(job.out()).isEqualTo("6.0 word 30 2 1 3\n");
  }
}
