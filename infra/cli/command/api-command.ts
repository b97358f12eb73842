import { type ArgsDef, defineCommand, type ParsedArgs, type SubCommandsDef } from 'citty'
import { id, refuseOtherArguments } from './arguments.ts'
import { type ApiRequest, type Connection, callApi } from './call-api.ts'
import { connectionOf, sandboxOf, withinWorkspace } from './connection.ts'
import { type Lists, readableAnswer } from './print-answer.ts'
import type { Surroundings } from './surroundings.ts'

/** Makes a command that refuses arguments which it does not have. A number that `run` returns is the exit code. */
export const checkedCommand = <const Args extends ArgsDef, Result>(
  description: string,
  args: Args,
  run: (args: ParsedArgs<Args>, surroundings: Surroundings) => Promise<Result>,
) =>
  defineCommand({
    meta: { description },
    args,
    run({ args: given, data }) {
      refuseOtherArguments(args, given)
      return run(given, data)
    },
  })

const COMMON = {
  json: { type: 'boolean', description: 'Print the answer as JSON' },
  url: { type: 'string', description: "The gateway's address; that of the local stack unless given", valueHint: 'URL' },
} as const satisfies ArgsDef

const PAGE = {
  page: { type: 'string', description: 'The page, 1 unless given', valueHint: 'N' },
  after: { type: 'string', description: 'Goes on behind this item of a list that has such pages', valueHint: 'ID' },
  limit: { type: 'string', description: 'Items of a page, 20 unless given, at most 100', valueHint: 'N' },
} as const satisfies ArgsDef

/** An API, and how a command reaches it. */
interface Api {
  readonly root: '/admin/v1' | '/v1'
  readonly args: ArgsDef
  within<Result>(
    args: { readonly url?: string | undefined; readonly workspace?: string | undefined },
    surroundings: Surroundings,
    send: (connection: Connection) => Promise<Result>,
  ): Promise<Result>
}

const ADMIN_API: Api = {
  root: '/admin/v1',
  args: {},
  within: ({ url }, { environment }, send) => send(connectionOf(url, environment)),
}

const WORKSPACE_API: Api = {
  root: '/v1',
  args: {
    workspace: {
      type: 'string',
      description: 'The workspace to read in, by a session of support; that of BACKOFFICE_KEY unless given',
      valueHint: 'ID',
    },
  },
  within: withinWorkspace,
}

const SANDBOX_API: Api = {
  root: '/v1',
  args: {},
  within: async ({ url }, { environment }, send) => send(sandboxOf(url, environment)),
}

/** A command that sends one request. */
interface ApiCommand<Args extends ArgsDef> {
  readonly description: string
  /** Method and path below the root of the API: `GET /keys/{id}`. Arguments in braces are ids, or `{service:name}`. */
  readonly request: `${ApiRequest['method']} /${string}`
  readonly args?: Args
  /** Throws UsageError for arguments that do not go together. */
  check?(args: ParsedArgs<Args>): void
  body?(args: ParsedArgs<Args>, surroundings: Surroundings): object | Promise<object>
  /** Why a session of support writes. */
  reason?(args: ParsedArgs<Args>): string
  /** Makes it a command that prints a page of a list, with these columns. */
  readonly columns?: readonly string[]
  readonly lists?: Lists
  /** The members of the query besides the page of a list, which are undefined unless given. */
  filter?(args: ParsedArgs<Args>): ApiRequest['query']
  /** Printed below the answer, or alone when the answer has no body; not with `--json`. */
  readonly note?: string | ((answer: Readonly<Record<string, unknown>>) => string)
}

/** Makes a command of one request to the admin API: it prints the answer as a table, or as JSON. */
export const apiCommand = <const Args extends ArgsDef>(command: ApiCommand<Args>) => requestCommand(ADMIN_API, command)

/** The same for `/v1` of a workspace. */
export const workspaceCommand = <const Args extends ArgsDef>(command: ApiCommand<Args>) =>
  requestCommand(WORKSPACE_API, command)

/** The same for `/v1` of a sandbox, with its key. */
export const sandboxCommand = <const Args extends ArgsDef>(command: ApiCommand<Args>) =>
  requestCommand(SANDBOX_API, command)

function requestCommand<const Args extends ArgsDef>(api: Api, command: ApiCommand<Args>) {
  const { description, columns, lists, note } = command
  const [method, template] = command.request.split(' ') as [ApiRequest['method'], string]
  const all: ArgsDef = { ...command.args, ...api.args, ...(columns && PAGE), ...COMMON }
  return checkedCommand(description, all, async (given, surroundings) => {
    const args = given as unknown as ParsedArgs<Args> & ParsedArgs<typeof COMMON & typeof PAGE>
    command.check?.(args)
    const request = {
      method,
      path: `${api.root}${template}`.replaceAll(/\{(\w+)(:name)?\}/g, (_, argument, isName) => {
        const value = String(given[argument])
        return isName ? encodeURIComponent(value) : id(value)
      }),
      query: {
        ...command.filter?.(args),
        ...(columns && { page: args.page, after: args.after, limit: args.limit }),
      },
      body: await command.body?.(args, surroundings),
      reason: command.reason?.(args),
    }
    const answer = await api.within(args, surroundings, (connection) => callApi(connection, request))
    if (args.json) {
      if (answer !== undefined) surroundings.print(`${JSON.stringify(answer, null, 2)}\n`)
      return
    }
    if (answer !== undefined) surroundings.print(readableAnswer(answer, columns, lists))
    const printed = typeof note === 'function' ? note((answer ?? {}) as Record<string, unknown>) : note
    if (printed !== undefined) surroundings.print(`${printed}\n`)
  })
}

/** A group of commands: `backoffice <name> <command>`. */
export const commandGroup = (description: string, subCommands: SubCommandsDef) =>
  defineCommand({ meta: { description }, subCommands })
