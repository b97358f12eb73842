import { admin, bodyOf } from '../../api/client.ts'
import { counted, useAction } from '../../parts/action.tsx'

/** Sends dead letters of a consumer to their topics again: those with these ids, else all of the last week. */
export const useReplay = (consumer: string) =>
  useAction((ids: readonly string[] | undefined) => replay(consumer, ids), {
    done: ({ replayed, before }) =>
      `${counted(replayed, 'letter is', 'letters are')} sent again${before ? `, ${before.toLocaleString()} were before` : ''}.`,
    changes: ['operators'],
  })

/** One request ends after seconds, and says what is left. */
async function replay(consumer: string, ids: readonly string[] | undefined) {
  const total = { replayed: 0, before: 0 }
  let rest: string | null | undefined
  do {
    const body = { ...(ids && { ids: [...ids] }), ...(rest && { rest }) }
    const path = { params: { path: { consumer } }, body }
    const answer = await bodyOf(admin.POST('/admin/v1/consumers/{consumer}/dead-letters/replay', path))
    total.replayed += answer.replayed
    total.before += answer.replayed_before
    rest = answer.rest
  } while (rest)
  return total
}
