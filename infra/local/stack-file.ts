import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DemoWorkspace } from './demo.ts'
import { replaceJson } from './json-file.ts'

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

export const writeStackFile = (directory: string, description: StackDescription): void =>
  replaceJson(join(directory, 'stack.json'), description)

/** To be called when the stack in a folder has stopped. */
export const removeStackFile = (directory: string): void => rmSync(join(directory, 'stack.json'), { force: true })
