import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DemoWorkspace } from './demo.ts'

/** The contents of stack.json: the running stack, for other tools. */
export interface StackDescription {
  readonly gateway: string
  readonly admin_token: string
  readonly workspaces: readonly DemoWorkspace[]
  readonly postgres: string
  readonly kafka: readonly string[]
  readonly registry: string
  readonly services: Readonly<
    Record<string, { readonly pid: number; readonly url: string; readonly operations: string }>
  >
}

/** Replaces stack.json atomically. Only its owner can read it, since it contains keys. */
export function writeStackFile(directory: string, description: StackDescription): void {
  const file = join(directory, 'stack.json')
  writeFileSync(`${file}.new`, `${JSON.stringify(description, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** To be called when the stack in a folder has stopped. */
export const removeStackFile = (directory: string): void => rmSync(join(directory, 'stack.json'), { force: true })
