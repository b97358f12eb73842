import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf, type Tagged } from '../api/client.ts'
import { Act, useAction } from '../parts/action.tsx'
import { Answer } from '../parts/answer.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Picture } from '../parts/picture.tsx'
import { Id, Long, Time } from '../parts/text.tsx'
import { type Collection, membershipWords, sortWords, useCollections, Visibility } from './collection.tsx'
import { CollectionProducts } from './collection-products.tsx'
import { CollectionRules } from './collection-rules.tsx'
import { EditCollection } from './edit-collection.tsx'

const GATHERING_MS = 1_000

/** One collection: when it is shown, what gathers its products, and the products. */
export function CollectionPage() {
  const { collection: id } = useParams({ from: '/collections/$collection' })
  const navigate = useNavigate()
  const { one } = useCollections()
  const [editing, setEditing] = useState<Tagged<Collection>>()
  const found = useQuery({
    queryKey: ['collections', id],
    queryFn: () => one(id),
    refetchInterval: ({ state }) => (state.data?.body.is_gathering ? GATHERING_MS : false),
  })
  const path = { params: { path: { handle: id } } }
  const remove = useAction(() => bodyOf(api.DELETE('/v1/collections/{handle}', path)), {
    done: 'The collection is deleted.',
    changes: ['collections'],
    onDone: () => navigate({ to: '/collections', replace: true }),
  })
  return (
    <Page
      title={found.data?.body.name ?? 'Collection'}
      above={<Link to="/collections">Collections</Link>}
      actions={
        found.data && (
          <>
            <Act needs="product::update" className="primary" onAct={() => setEditing(found.data)}>
              Edit
            </Act>
            <Act
              needs="product::delete"
              className="danger"
              isBusy={remove.isPending}
              question="Delete this collection? Its products stay."
              onAct={() => remove.mutate()}
            >
              Delete
            </Act>
          </>
        )
      }
    >
      {editing && <EditCollection of={editing} onClose={() => setEditing(undefined)} />}
      <Answer of={found}>
        {({ body, tag }) => (
          <>
            <About collection={body} />
            {body.membership_type && <CollectionRules key={body.id} collection={body} tag={tag} />}
            <CollectionProducts collection={body} />
          </>
        )}
      </Answer>
    </Page>
  )
}

const About = ({ collection }: { readonly collection: Collection }) => (
  <Section title="About">
    {collection.image_thumbnail && <Picture url={collection.image_thumbnail} isLarge />}
    <Facts
      of={{
        Shown: <Visibility of={collection} />,
        From: collection.publish_at && <Time at={collection.publish_at} />,
        Until: collection.unpublish_at && <Time at={collection.unpublish_at} />,
        'Products come': membershipWords(collection),
        'Products shown': collection.product_count.toLocaleString(),
        Order: sortWords(collection),
        'In URLs': collection.handle,
        'Title for search engines': collection.seo_title,
        'Text for search engines': collection.seo_description && <Long text={collection.seo_description} />,
        Created: <Time at={collection.created_at} />,
        Changed: <Time at={collection.updated_at} />,
        Id: <Id id={collection.id} />,
      }}
    />
    {collection.description && <Long text={collection.description} most={1000} />}
  </Section>
)
