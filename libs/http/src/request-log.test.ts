import { connect } from 'node:net'
import { createLogger, type Logger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { beforeEach, expect, it } from 'vitest'
import { operation } from './operation.ts'
import { createThing, getThing, thingsApi } from './testing/things-api.ts'

const { db } = await testDatabase('catalog')
const lines: Record<string, unknown>[] = []
const write = (level: string) => (line: Record<string, unknown>) => void lines.push({ level, ...line })
const logger: Logger = Object.assign(createLogger('test', 'silent'), { info: write('info'), error: write('error') })

const bug = new Error('a bug')
let hangs: (() => void) | undefined
const handlers = ['bug', 'hang'].map((name) =>
  operation({
    method: 'GET',
    path: `/v1/${name}`,
    summary: 'Fail',
    scope: 'product::read',
    responses: {},
    async handle() {
      if (name === 'hang')
        await new Promise<void>((resolve) => {
          hangs = resolve
        })
      throw bug
    },
  }),
)
const { port, send } = await thingsApi(db, { operations: [createThing, getThing, ...handlers], logger })
const line = () => eventually('a log line', () => lines.length > 0 && lines[0])

beforeEach(() => {
  lines.length = 0
})
