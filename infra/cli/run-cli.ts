import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { readJson } from '@backoffice/local/json-file.ts'
import { ConfigurationError } from '@backoffice/runtime/configuration-error.ts'
import { type CommandDef, defineCommand, renderUsage, runCommand } from 'citty'
import { CommandError, UsageError } from './command/command-error.ts'
import type { Surroundings } from './command/surroundings.ts'
import { apps } from './commands/apps.ts'
import { audit } from './commands/audit.ts'
import { checks } from './commands/checks.ts'
import { deadLetters } from './commands/dead-letters.ts'
import { installations } from './commands/installations.ts'
import { keys } from './commands/keys.ts'
import { deliveries, endpoints, imports, orders } from './commands/of-workspace.ts'
import { operators } from './commands/operators.ts'
import { outbox } from './commands/outbox.ts'
import { requests } from './commands/requests.ts'
import { sandbox } from './commands/sandbox.ts'
import { consoleSessions, support } from './commands/support.ts'
import { trigger } from './commands/trigger.ts'
import { workspaces } from './commands/workspaces.ts'
import { listen } from './listen/listen-command.ts'

const ROOT = defineCommand({
  meta: {
    name: 'backoffice',
    description: `Work on the local stack, or on the back-office at BACKOFFICE_URL as the operator of BACKOFFICE_TOKEN`,
  },
  subCommands: {
    workspaces,
    support,
    console: consoleSessions,
    requests,
    keys,
    operators,
    audit,
    apps,
    app: { ...apps, meta: { hidden: true } }, // so that `app doctor` works too
    installations,
    sandbox,
    orders,
    imports,
    endpoints,
    deliveries,
    'dead-letters': deadLetters,
    outbox,
    checks,
    listen,
    trigger,
  },
}) as CommandDef

/** Runs `backoffice …` and returns the exit code: 0, 1 for a failure, 2 for a wrong command line. */
export async function runCli(given: readonly string[], surroundings: Surroundings): Promise<number> {
  const { print, printError } = surroundings
  const { command, parent, rest } = findCommand(given)
  const usage = async () =>
    `${stripVTControlCharacters(await renderUsage(command, parent))
      .replaceAll(/ +$/gm, '')
      .trim()}\n`
  try {
    const [unknown] = rest
    if (rest.includes('--help') || rest.includes('-h')) {
      print(await usage())
      return 0
    }
    if (command === ROOT && given.length === 1 && /^(?:--version|-v)$/.test(given[0] ?? '')) {
      const { version } = readJson<{ version: string }>(join(import.meta.dirname, 'package.json')) ?? {}
      print(`backoffice ${version} (Node ${process.versions.node})\n`)
      return 0
    }
    if (command.subCommands !== undefined)
      throw new UsageError(unknown === undefined ? 'a command is missing' : `unknown command ${unknown}`)
    const { result } = await runCommand(command, { rawArgs: [...rest], data: surroundings })
    return typeof result === 'number' ? result : 0
  } catch (error) {
    const { message, name } = error as Error
    if (error instanceof UsageError || name === 'CLIError') {
      printError(`${stripVTControlCharacters(message)}\n${shortUsage(await usage())}`)
      return 2
    }
    if (!(error instanceof CommandError || error instanceof ConfigurationError)) throw error
    printError(`${stripVTControlCharacters(message)}\n`)
    return 1
  }
}

/** The line of a usage that names the command, and how to see the rest. */
function shortUsage(usage: string): string {
  const line = usage.split('\n').find((each) => each.startsWith('USAGE ')) ?? ''
  const [words = ''] = /backoffice(?: [a-z-]+(?= |$))*/.exec(line) ?? []
  return `${line}\n${words} --help says more\n`
}

/**
 * Follows the names of groups and commands as far as they are known. `parent` is the command's group, named by all
 * words before the command's own name, for the usage; `rest` are the arguments behind that name.
 */
function findCommand(given: readonly string[]) {
  let [command, rest, path] = [ROOT, given, 'backoffice']
  let parent: CommandDef | undefined
  for (;;) {
    const [name = '', ...others] = rest
    const commands = command.subCommands as Record<string, CommandDef> | undefined
    if (commands === undefined || !Object.hasOwn(commands, name)) return { command, parent, rest }
    parent = named(command, path)
    command = named(commands[name] as CommandDef, name)
    rest = others
    path += ` ${name}`
  }
}

/** The command under the name that the usage shows. */
const named = (command: CommandDef, name: string): CommandDef => ({
  ...command,
  meta: { ...(command.meta as object), name },
})
