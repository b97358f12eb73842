import { expect, test } from 'vitest'
import type { EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import { aJob } from '../scheduling/testing/a-job.ts'
import { PausedEndpoints } from './paused-endpoints.ts'

test('an endpoint that is not paused any more is due in the step that forgets its pause: no fresh event comes before', async () => {
  const [paused, due] = [new PausedEndpoints(), new Set<string>()]
  paused.add(aJob('endpoint').target)
  const seen: boolean[] = []
  const watch = async () => {
    for (let step = 0; step < 20; step++) {
      seen.push(paused.has('endpoint') || due.has('endpoint'))
      await undefined
    }
  }
  const directory: EndpointDirectory = {
    of: async () => {
      void watch()
      return new Map()
    },
  }
  await paused.look({} as never, directory, (endpointId) => due.add(endpointId))
  await watch()
  expect(seen).not.toContain(false)
  expect([...due]).toEqual(['endpoint'])
})
