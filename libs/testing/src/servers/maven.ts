import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { runToEnd } from '../processes/child.ts'
import type { Progress } from '../processes/managed-process.ts'
import { StackError } from '../processes/stack-error.ts'
import { javaCommand } from './java.ts'

/** Where Maven has put Kafka and the registry. */
interface JavaPrograms {
  readonly kafkaClasspath: string
  readonly registryDirectory: string
}

/** The pom.xml files, and the Maven Wrapper. */
const HERE = join(import.meta.dirname, '../../maven')
const MAVEN = 'mvn'
const CACHE = join(HERE, '../../../.local/cache')

/** The programs that a pom.xml names, with the folder they are fetched to and the file there that lists their jars. */
interface Fetched {
  readonly pom: string
  readonly folder: string
  readonly classpath: string
  /** The programs' name in messages. */
  readonly what: string
}

const JAVA_PROGRAMS: Fetched = {
  pom: join(HERE, 'pom.xml'),
  folder: 'java',
  classpath: 'kafka.classpath',
  what: 'Kafka and the registry',
}
const S3_SERVER: Fetched = {
  pom: join(HERE, 's3', 'pom.xml'),
  folder: 's3',
  classpath: 's3.classpath',
  what: 'the S3 server',
}

let resolving: Promise<string> | undefined

/** Fetches Kafka and the registry that libs/testing/maven/pom.xml names, once per version. */
export async function resolveJavaPrograms(onProgress: Progress = () => undefined): Promise<JavaPrograms> {
  resolving ??= resolve(JAVA_PROGRAMS, onProgress)
  const directory = await resolving
  return { kafkaClasspath: classpathIn(directory, JAVA_PROGRAMS), registryDirectory: join(directory, 'registry') }
}

/** Fetches the S3 server that libs/testing/maven/s3/pom.xml names, once per version; returns its classpath. */
export const resolveS3Server = async (onProgress: Progress = () => undefined): Promise<string> =>
  classpathIn(await resolve(S3_SERVER, onProgress), S3_SERVER)

/** Returns the folder with the programs of a pom.xml, fetched if it is not complete. */
async function resolve(fetched: Fetched, onProgress: Progress): Promise<string> {
  javaCommand()
  const version = createHash('sha256').update(readFileSync(fetched.pom)).digest('hex').slice(0, 12)
  const directory = join(CACHE, `${fetched.folder}-${version}`)
  if (!isComplete(directory, fetched)) {
    const unfinished = `${directory}.${process.pid}`
    await runMaven(fetched, unfinished, onProgress)
    rmSync(directory, { recursive: true, force: true })
    renameSync(unfinished, directory)
  }
  return directory
}

const classpathIn = (directory: string, { classpath }: Fetched): string =>
  readFileSync(join(directory, classpath), 'utf8').trim()

/** Whether every jar of the classpath exists: they lie in Maven's own repository, which a user may empty. */
function isComplete(directory: string, fetched: Fetched): boolean {
  const list = join(directory, fetched.classpath)
  return (
    existsSync(list) &&
    classpathIn(directory, fetched)
      .split(delimiter)
      .every((jar) => existsSync(jar))
  )
}

async function runMaven({ pom, what }: Fetched, target: string, onProgress: Progress): Promise<void> {
  mkdirSync(target, { recursive: true })
  const log: string[] = []
  const report = transferReporter(onProgress)
  const how = await runToEnd({
    name: 'Maven',
    file: mavenCommand(),
    args: ['-f', pom, 'generate-resources', `-Dtarget=${target}`, '-Dstyle.color=never', ...repository()],
    output: (line) => {
      report(line)
      if (!line.startsWith('Progress')) log.push(line)
    },
  })
  if (how === 'exit code 0') return
  rmSync(target, { recursive: true, force: true })
  const file = join(CACHE, 'maven.log')
  writeFileSync(file, log.join('\n'))
  const reason = log.find((line) => line.includes('ERROR')) ?? how
  throw new StackError(`Maven could not fetch ${what}: check the network (${file} has the rest): ${reason}`)
}

/** Maven's own repository, which other projects share, if this user can write it; else one in the cache here. */
function repository(): string[] {
  try {
    accessSync(homedir(), constants.W_OK)
    return []
  } catch {
    return [`-Dmaven.repo.local=${join(CACHE, 'maven')}`]
  }
}

/** Turns Maven's transfer lines into `34 files, now kafka-clients-4.1.2.jar 6.7/10 MB`. */
function transferReporter(onProgress: Progress): (line: string) => void {
  let files = 0
  let name = 'Maven'
  return (line) => {
    const started = /^Downloading from \S+ (\S+)/.exec(line)?.[1]
    if (started) name = basename(started)
    if (/^Downloaded from/.test(line)) files++
    const size = /^Progress \(\d+\): (\S+ [kM]?B)/.exec(line)?.[1] ?? ''
    if (started || size) onProgress(`${files} files fetched, now ${name} ${size}`.trimEnd())
  }
}

/** Maven 3 on the path, else the Maven Wrapper fetches one: Maven 4 does not run the plugin of pom.xml. */
function mavenCommand(): string {
  const { stdout } = spawnSync(MAVEN, ['--version'], { encoding: 'utf8' })
  return stdout?.includes('Apache Maven 3.') ? MAVEN : join(HERE, 'mvnw')
}
