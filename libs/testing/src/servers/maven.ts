import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { endOf } from '../processes/child.ts'
import type { Progress } from '../processes/managed-process.ts'
import { StackError } from '../processes/stack-error.ts'
import { javaCommand } from './java.ts'

/** The pom.xml files, and the Maven Wrapper. */
const HERE = join(import.meta.dirname, '../../maven')
const MAVEN = 'mvn'
/** Maven itself waits for a server that has stopped sending for half an hour. */
const STANDSTILL_MS = 120_000
/** The Maven Wrapper says how far its download of Maven is, too. */
const TELLING = { ...process.env, MVNW_VERBOSE: 'true' }
const CACHE = join(HERE, '../../../.local/cache')

/** The programs that a pom.xml names, the folder they are fetched to, and the file there that lists their jars. */
const KAFKA_AND_REGISTRY = {
  what: 'Kafka and the registry',
  pom: join(HERE, 'pom.xml'),
  folder: 'java',
  classpath: 'kafka.classpath',
}
const S3_SERVER = { what: 'the S3 server', pom: join(HERE, 's3', 'pom.xml'), folder: 's3', classpath: 's3.classpath' }
const GENERATED_CLIENTS = {
  what: 'openapi-generator',
  pom: join(HERE, 'clients', 'pom.xml'),
  folder: 'clients',
  classpath: 'clients.classpath',
}
type Programs = typeof S3_SERVER

let resolving: Promise<string> | undefined

/**
 * Fetches Kafka and the registry that libs/testing/maven/pom.xml names, once per version. `formatted` is the place for
 * formatted storage of Kafka.
 */
export async function resolveJavaPrograms(onProgress?: Progress) {
  resolving ??= resolve(KAFKA_AND_REGISTRY, onProgress)
  const directory = await resolving
  return {
    kafkaClasspath: classpathIn(directory, KAFKA_AND_REGISTRY),
    registryDirectory: join(directory, 'registry'),
    formatted: join(directory, 'formatted'),
  }
}

/** Fetches the S3 server that libs/testing/maven/s3/pom.xml names, once per version; returns its classpath. */
export const resolveS3Server = async (onProgress?: Progress): Promise<string> =>
  classpathIn(await resolve(S3_SERVER, onProgress), S3_SERVER)

/** Fetches openapi-generator, and what its Java clients need, once per version; returns the classpath of both. */
export const resolveClientGenerator = async (onProgress?: Progress): Promise<string> =>
  classpathIn(await resolve(GENERATED_CLIENTS, onProgress), GENERATED_CLIENTS)

/** Returns the folder with the programs of a pom.xml, fetched if it is not complete. */
async function resolve(programs: Programs, onProgress: Progress = () => undefined): Promise<string> {
  javaCommand()
  const version = createHash('sha256').update(readFileSync(programs.pom)).digest('hex').slice(0, 12)
  const directory = join(CACHE, `${programs.folder}-${version}`)
  if (!isComplete(directory, programs)) {
    const unfinished = `${directory}.${process.pid}`
    await runMaven(programs, unfinished, onProgress)
    rmSync(directory, { recursive: true, force: true })
    renameSync(unfinished, directory)
  }
  return directory
}

const classpathIn = (directory: string, { classpath }: Programs): string =>
  readFileSync(join(directory, classpath), 'utf8').trim()

/** Whether every jar of the classpath exists: they lie in Maven's own repository, which a user may empty. */
function isComplete(directory: string, programs: Programs): boolean {
  if (!existsSync(join(directory, programs.classpath))) return false
  return classpathIn(directory, programs).split(delimiter).every(existsSync)
}

async function runMaven({ pom, what }: Programs, target: string, onProgress: Progress): Promise<void> {
  mkdirSync(target, { recursive: true })
  const log: string[] = []
  const report = transferReporter(onProgress)
  const file = mavenCommand()
  const goal = ['-f', pom, 'generate-resources', `-Dtarget=${target}`, '-Dstyle.color=never', ...repository()]
  const output = (line: string) => {
    report(line)
    if (!line.startsWith('Progress')) log.push(line)
  }
  let how = ''
  // What an earlier run has fetched needs no network.
  for (const args of [['--offline', ...goal], goal, goal]) {
    log.length = 0
    how = (await endOf({ name: 'Maven', file, args, output, env: TELLING }, STANDSTILL_MS)).how
    if (how === 'exit code 0') return
  }
  rmSync(target, { recursive: true, force: true })
  const said = join(CACHE, 'maven.log')
  writeFileSync(said, log.join('\n'))
  const reason = log.find((line) => line.includes('ERROR')) ?? how
  throw new StackError(`Maven could not fetch ${what}: check the network (${said} has the rest): ${reason}`)
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
