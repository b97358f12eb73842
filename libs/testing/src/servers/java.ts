import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import type { Command } from '../processes/child.ts'
import { StackError } from '../processes/stack-error.ts'

const OLDEST_JAVA = 17

/**
 * A Java program that shares a small machine: little memory, one collector thread, a quick start. It runs in the folder
 * of its log, which must exist.
 */
export const javaProgram = (name: string, log: string, megabytes: number, args: readonly string[]): Command => ({
  name,
  file: javaCommand(),
  args: [
    `-Xmx${megabytes}m`,
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-XX:-UsePerfData',
    `-Djava.io.tmpdir=${dirname(log)}`,
    ...args,
  ],
  cwd: dirname(log),
  output: log,
})

/** The text of a Java properties file. */
export const propertiesText = (settings: Readonly<Record<string, string | number | boolean>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')

let found: string | undefined

/** The `java` to run: JAVA_HOME's, else the one on the path. Throws StackError when there is none or it is too old. */
export function javaCommand(): string {
  if (found !== undefined) return found
  const home = process.env.JAVA_HOME
  const java = home ? join(home, 'bin', 'java') : 'java'
  const { stderr, error } = spawnSync(java, ['-version'], { encoding: 'utf8' })
  const version = /version "(?:1\.)?(\d+)/.exec(stderr ?? '')?.[1]
  const wanted = `install Java ${OLDEST_JAVA} or newer (a JDK such as https://adoptium.net) and put it on the PATH`
  if (error || !version) throw new StackError(`no Java found as ${java}: ${wanted}`)
  if (Number(version) < OLDEST_JAVA) throw new StackError(`${java} is Java ${version}: ${wanted}`)
  found = java
  return java
}
