import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readJson } from '@backoffice/local/json-file.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { id } from './arguments.ts'
import { type Connection, callApi } from './call-api.ts'
import { CommandError } from './command-error.ts'
import type { Surroundings } from './surroundings.ts'

const DEFAULT_DIRECTORY = join(import.meta.dirname, '../../../.local')

interface Credential {
  readonly variable: string
  readonly what: string
  ofStack(stack: StackDescription): string | undefined
}

const OPERATOR_TOKEN: Credential = {
  variable: 'BACKOFFICE_TOKEN',
  what: 'operator token',
  ofStack: (stack) => stack.admin_token,
}

const API_KEY: Credential = {
  variable: 'BACKOFFICE_KEY',
  what: 'API key',
  ofStack: ({ workspaces }) => workspaces.find(({ livemode }) => !livemode)?.key,
}

/** The gateway with an operator token for its admin API: see `connect`. */
export const connectionOf = (url: string | undefined, environment: NodeJS.ProcessEnv): Connection =>
  connect(url, environment, OPERATOR_TOKEN)

/** The gateway with a key of a sandbox: see `connect`. Throws CommandError for any other key. */
export function sandboxOf(url: string | undefined, environment: NodeJS.ProcessEnv): Connection {
  const connection = connect(url, environment, API_KEY)
  if (!connection.token.startsWith('sk_test_'))
    throw new CommandError('BACKOFFICE_KEY is no key of a sandbox: take one of the sandbox, which begins with sk_test_')
  return connection
}

/**
 * Runs `send` with a credential for `/v1`: in the workspace that is given that of a session of support, which is ended
 * afterwards; else BACKOFFICE_KEY, or the key of the stack's sandbox. BACKOFFICE_API_URL is where `/v1` has another
 * address than the admin API.
 */
export async function withinWorkspace<Result>(
  { url, workspace }: { readonly url?: string | undefined; readonly workspace?: string | undefined },
  { environment, printError }: Pick<Surroundings, 'environment' | 'printError'>,
  send: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const address = url || environment.BACKOFFICE_API_URL || undefined
  if (workspace === undefined) return send(connect(address, environment, API_KEY))
  const admin = connectionOf(url, environment)
  const path = `/admin/v1/workspaces/${id(workspace)}/support-sessions`
  const session = (await callApi(admin, { method: 'POST', path, body: {} })) as { id: string; token: string }
  try {
    return await send({ url: address ?? admin.url, token: session.token })
  } finally {
    await callApi(admin, { method: 'DELETE', path: `/admin/v1/support-sessions/${session.id}` }).catch(
      ({ message }: CommandError) =>
        printError(`the support session was not ended: ${message}; backoffice support end ${session.id} ends it\n`),
    )
  }
}

/**
 * The gateway that `--url` or BACKOFFICE_URL names, with the credential in its variable; else that of the running
 * stack, with the stack's unless the variable is set. What is the stack's is never sent to another address.
 */
function connect(
  url: string | undefined,
  environment: NodeJS.ProcessEnv,
  { variable, what, ofStack }: Credential,
): Connection {
  const token = (environment[variable] || inFile(environment[`${variable}_FILE`]))?.trim() || undefined
  // What refuses it later would repeat it.
  if (token !== undefined && !/^[!-~]*$/.test(token))
    throw new CommandError(`${variable} is no ${what}: it has characters that none has`)
  const address = url || environment.BACKOFFICE_URL || undefined
  if (address === undefined) {
    const instead = `name a gateway with --url or BACKOFFICE_URL, and its ${what} with ${variable}`
    const stack = runningStack(environment, instead)
    return { url: stack.gateway, token: token ?? ofStack(stack) ?? '' }
  }
  if (!/^https?:\/\//.test(address) || !URL.canParse(address))
    throw new CommandError(`${address} is no URL of a gateway: it starts with https:// or http://`)
  if (token === undefined) throw new CommandError(`set ${variable} to an ${what} of ${address}`)
  return { url: address, token }
}

/** The contents of a file, of a Secret that Kubernetes mounts. */
function inFile(path: string | undefined): string | undefined {
  if (!path) return undefined
  if (!existsSync(path)) throw new CommandError(`${path} is missing`)
  return readFileSync(path, 'utf8')
}

/** The folder of the stack that `npm start` runs. */
export const stackDirectory = ({ STACK_DIR }: NodeJS.ProcessEnv): string =>
  STACK_DIR ? resolve(STACK_DIR) : resolve(DEFAULT_DIRECTORY)

/** The contents of stack.json. Throws CommandError when no stack runs; `instead` says what else to do. */
export function runningStack(environment: NodeJS.ProcessEnv, instead: string): StackDescription {
  const file = join(stackDirectory(environment), 'stack.json')
  const description = readJson<StackDescription>(file)
  if (description === undefined) throw new CommandError(`${file} is missing: run npm start first, or ${instead}`)
  return description
}
