import type { StackDescription } from '@backoffice/local/stack-file.ts'
import postgres from 'postgres'
import { newAttacker } from './attacker.ts'
import { ATTACKS } from './attacks.ts'

/** A process that attacks: its own, so that it delays no clock of the other. The argument names it. */
const attack = ATTACKS[process.argv[2] ?? '']
process.once('message', async (stack: StackDescription) => {
  const sql = postgres(stack.postgres, { max: 4, onnotice: () => undefined })
  const end = await attack?.({ stack, sql, attacker: await newAttacker(stack) })
  process.once('message', async () => {
    await end?.()
    process.exit(0)
  })
  process.send?.('under way')
})
process.once('disconnect', () => process.exit())
