import { useQuery } from '@tanstack/react-query'
import { api, bodyOf } from '../api/client.ts'
import { useAction } from '../parts/action.tsx'
import { fieldOf, submitted } from '../parts/form-dialog.tsx'
import { Answer } from '../parts/page.tsx'
import { useCan } from '../session/session.ts'

/** How many requests a second an endpoint gets at most. */
export function RateLimit({ endpoint: id }: { readonly endpoint: string }) {
  const can = useCan()
  const params = { path: { id } }
  const limits = useQuery({
    queryKey: ['endpoints', id, 'limits'],
    queryFn: () => bodyOf(api.GET('/v1/webhooks/{id}/limits', { params })),
  })
  const save = useAction(
    (requests_per_second: number | null) =>
      bodyOf(api.POST('/v1/webhooks/{id}/limits', { params, body: { requests_per_second } })),
    { done: 'The limit is saved.', changes: ['endpoints'] },
  )
  return (
    <Answer of={limits}>
      {({ requests_per_second: limit }) => (
        <form className="filters" onSubmit={submitted((form) => save.mutate(Number(fieldOf(form, 'limit')) || null))}>
          <label>
            Requests a second
            <input
              key={limit}
              name="limit"
              type="number"
              min={1}
              max={1000}
              placeholder="no limit"
              defaultValue={limit ?? ''}
            />
          </label>
          <button type="submit" disabled={save.isPending || !can('webhook::create')}>
            Save
          </button>
        </form>
      )}
    </Answer>
  )
}
