import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { api, bodyOf } from '../api/client.ts'
import { ApiAct, OpenButton } from '../parts/action.tsx'
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
  const found = useQuery({
    queryKey: ['collections', id],
    queryFn: () => one(id),
    refetchInterval: ({ state }) => (state.data?.body.is_gathering ? GATHERING_MS : false),
  })
  const path = { params: { path: { handle: id } } }
  return (
    <Page
      title={found.data?.body.name ?? 'Collection'}
      above={<Link to="/collections">Collections</Link>}
      actions={
        found.data && (
          <>
            <OpenButton
              needs="product::update"
              className="primary"
              opens={(close) => <EditCollection of={found.data} onClose={close} />}
            >
              Edit
            </OpenButton>
            <ApiAct
              needs="product::delete"
              className="danger"
              question="Delete this collection? Its products stay."
              act={() => bodyOf(api.DELETE('/v1/collections/{handle}', path))}
              done="The collection is deleted."
              changes={['collections']}
              onDone={() => navigate({ to: '/collections', replace: true })}
            >
              Delete
            </ApiAct>
          </>
        )
      }
      of={found}
    >
      {({ body, tag }) => (
        <>
          <About collection={body} />
          {body.membership_type && <CollectionRules collection={body} tag={tag} />}
          <CollectionProducts collection={body} />
        </>
      )}
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
