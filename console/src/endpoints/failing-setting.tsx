import { useQuery } from '@tanstack/react-query'
import { api, bodyOf } from '../api/client.ts'
import { useAction } from '../parts/action.tsx'
import { Section } from '../parts/page.tsx'
import { useCan } from '../session/session.ts'

/** Whether endpoints of the workspace that fail for long are disabled. */
export function FailingSetting() {
  const can = useCan()
  const settings = useQuery({
    queryKey: ['endpoints', 'settings'],
    queryFn: () => bodyOf(api.GET('/v1/webhooks/settings')),
  })
  const change = useAction(
    (disables_failing: boolean) => bodyOf(api.PUT('/v1/webhooks/settings', { body: { disables_failing } })),
    { done: 'The setting is saved.', changes: ['endpoints'] },
  )
  return (
    <Section title="Endpoints that fail" of={settings}>
      {({ disables_failing }) => (
        <>
          <label className="check">
            <input
              type="checkbox"
              checked={disables_failing}
              disabled={change.isPending || !can('webhook::update')}
              onChange={({ target }) => change.mutate(target.checked)}
            />
            Disable an endpoint that fails for three days
          </label>
          <p className="quiet">
            Nothing is lost: what occurs meanwhile waits for up to 30 days and is sent once it is enabled.
          </p>
        </>
      )}
    </Section>
  )
}
