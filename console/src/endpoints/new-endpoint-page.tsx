import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.ts'
import { Unsaved } from '../parts/dialog.tsx'
import { EditForm } from '../parts/edit.tsx'
import { Page, Section } from '../parts/page.tsx'
import { ShownOnce, useSecret } from '../parts/shown-once.tsx'
import { fieldsOf, membersOf, NEW } from './endpoint-members.tsx'
import { SendPing } from './try-out.tsx'

/** Makes an endpoint and shows its secret, once. */
export function NewEndpointPage() {
  const [made, setMade] = useState<string>()
  const [secret, setSecret] = useSecret()
  return (
    <Page title={made ? 'The endpoint is made' : 'Add an endpoint'} above={<Link to="/endpoints">Endpoints</Link>}>
      {made ? (
        <>
          {secret && <ShownOnce title="The signing secret" secret={secret} onClose={() => setSecret(undefined)} />}
          <Section title="What now">
            <p>
              Put the secret in place: your server checks with it that a delivery comes from here. Then send a ping,
              which arrives as every event does.
            </p>
            <div className="actions">
              <SendPing endpoint={made} />
              <Link to="/endpoints/$endpoint" params={{ endpoint: made }} className="button">
                To the endpoint
              </Link>
            </div>
          </Section>
        </>
      ) : (
        <Unsaved>
          <div className="card">
            <EditForm
              verb="Add"
              of={{ body: NEW, tag: '' }}
              fieldsOf={fieldsOf}
              save={async ({ all }) => bodyOf(api.POST('/v1/webhooks', { body: { ...NEW, ...membersOf(all) } }))}
              done="The endpoint is made."
              changes={['endpoints']}
              onDone={(endpoint) => {
                setMade(endpoint?.id)
                setSecret(endpoint?.secret)
              }}
            />
          </div>
        </Unsaved>
      )}
    </Page>
  )
}
