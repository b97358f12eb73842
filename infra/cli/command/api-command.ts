import { type ArgsDef, defineCommand, type ParsedArgs, type SubCommandsDef } from 'citty'
import { type AdminRequest, callAdmin } from './admin-api.ts'
import { refuseOtherArguments } from './arguments.ts'
import { connectionOf } from './connection.ts'
import { readableAnswer } from './print-answer.ts'

/** What a command has from its process. */
export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv
  print(text: string): void
  /** Everything that comes on standard input. */
  readInput(): Promise<string>
}

const COMMON = {
  json: { type: 'boolean', description: 'Print the answer as JSON' },
  url: { type: 'string', description: "The gateway's address; that of the local stack unless given", valueHint: 'URL' },
} as const satisfies ArgsDef

/** A command that sends one request to the admin API. */
interface ApiCommand<Args extends ArgsDef> {
  readonly description: string
  readonly args?: Args
  request(args: ParsedArgs<Args>, surroundings: Surroundings): AdminRequest | Promise<AdminRequest>
  /** The columns of a list; all members unless given. */
  readonly columns?: readonly string[]
  /** Printed below the answer, or alone when the answer has no body; not with `--json`. */
  readonly note?: string
}

/** Makes a command of one request: it prints the answer as a table, or as JSON. */
export function apiCommand<const Args extends ArgsDef>(command: ApiCommand<Args>) {
  const args = { ...command.args, ...COMMON }
  return defineCommand({
    meta: { description: command.description },
    args,
    async run({ args: given, data }) {
      refuseOtherArguments(args, given)
      const surroundings: Surroundings = data
      const request = await command.request(given as unknown as ParsedArgs<Args>, surroundings)
      const answer = await callAdmin(connectionOf(given.url, surroundings.environment), request)
      if (given.json) {
        if (answer !== undefined) surroundings.print(`${JSON.stringify(answer, null, 2)}\n`)
        return
      }
      if (answer !== undefined) surroundings.print(readableAnswer(answer, command.columns))
      if (command.note !== undefined) surroundings.print(`${command.note}\n`)
    },
  })
}

const PAGE = {
  page: { type: 'string', description: 'The page, 1 unless given', valueHint: 'N' },
  limit: { type: 'string', description: 'Items of a page, 20 unless given, at most 100', valueHint: 'N' },
} as const satisfies ArgsDef

interface ListCommand<Args extends ArgsDef> {
  readonly description: string
  readonly args?: Args
  path(args: ParsedArgs<Args>): string
  query?(args: ParsedArgs<Args>): AdminRequest['query']
  readonly columns: readonly string[]
}

/** Makes a command that prints a page of a list. */
export function listCommand<const Args extends ArgsDef>({ path, query, ...command }: ListCommand<Args>) {
  return apiCommand({
    ...command,
    args: { ...command.args, ...PAGE },
    request: (given) => {
      const { page, limit } = given as unknown as ParsedArgs<typeof PAGE>
      const args = given as unknown as ParsedArgs<Args>
      return { method: 'GET', path: path(args), query: { ...query?.(args), page, limit } }
    },
  })
}

/** A group of commands: `backoffice <name> <command>`. */
export const commandGroup = (description: string, subCommands: SubCommandsDef) =>
  defineCommand({ meta: { description }, subCommands })
