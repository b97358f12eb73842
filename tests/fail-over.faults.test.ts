import { it } from 'vitest'
import { failOver } from './testing/fail-over.ts'

it('a fail-over to a synchronous standby, also behind PgBouncer, loses nothing confirmed, and the API is back within 30 s', async () => {
  console.log(await failOver())
})
