import { join, resolve } from 'node:path'
import { readJson } from '@backoffice/local/json-file.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { CommandError } from './command-error.ts'

const DEFAULT_DIRECTORY = join(import.meta.dirname, '../../../.local')

/** The gateway, and the operator token for its admin API. */
export interface Connection {
  readonly url: string
  readonly token: string
}

/**
 * The gateway that `--url` or BACKOFFICE_URL names, with the token in BACKOFFICE_TOKEN; else that of the running stack,
 * with the stack's token unless BACKOFFICE_TOKEN is set. The stack's token is never sent to another address.
 */
export function connectionOf(url: string | undefined, environment: NodeJS.ProcessEnv): Connection {
  const token = environment.BACKOFFICE_TOKEN || undefined
  const address = url || environment.BACKOFFICE_URL || undefined
  if (address === undefined) {
    const { gateway, admin_token } = runningStack(
      environment,
      'name a gateway with --url or BACKOFFICE_URL, and its operator token with BACKOFFICE_TOKEN',
    )
    return { url: gateway, token: token ?? admin_token }
  }
  if (!/^https?:\/\//.test(address) || !URL.canParse(address))
    throw new CommandError(`${address} is no URL of a gateway: it starts with https:// or http://`)
  if (token === undefined) throw new CommandError(`set BACKOFFICE_TOKEN to an operator token of ${address}`)
  return { url: address, token }
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
