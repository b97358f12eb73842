import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { StackDescription } from '@backoffice/local/stack-file.ts'

const PROCESS = fileURLToPath(new URL('./attack-process.ts', import.meta.url))

/** Starts an attack in a process. Resolves when it is at its full strength, with the function that ends it. */
export async function startAttack(name: string, stack: StackDescription): Promise<() => Promise<void>> {
  const child = fork(PROCESS, [name], { execArgv: [] })
  const ended = once(child, 'exit')
  child.send(stack)
  const began = await Promise.race([once(child, 'message').then(() => true), ended.then(() => false)])
  if (!began) throw new Error(`the attack did not begin: ${name}`)
  return async () => {
    if (child.connected) child.send('end')
    const [code] = await ended
    if (code !== 0) throw new Error(`the attack failed: ${name}`)
  }
}
