// Karpenter with the provider of kwok, and a cloud that can refuse machines.
//
// The annotation e2e/refuses of a KWOKNodeClass says how, with the errors that the provider of Azure
// 1.10.2 hands to Karpenter (pkg/cloudprovider/cloudprovider.go).
package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"
)

const (
	refuses = "e2e/refuses"
	// How long the provider of Azure takes an instance type for unavailable after a refusal.
	unavailableFor = 10 * time.Minute
	// How long a machine that is refused late seems to come up.
	lateAfter = 5 * time.Second
)

type cloud struct {
	*kwok.CloudProvider
	client  client.Client
	mutex   sync.Mutex
	refused map[string]time.Time
}

// machines come with the plugin of their device: a Node has all that can be allocated there.
type machines struct{ client.Client }

func (m machines) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	if node, isNode := object.(*corev1.Node); isNode {
		node.Status.Capacity = node.Status.Allocatable
	}
	return m.Client.Create(ctx, object, options...)
}

func (c *cloud) Create(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	class := &v1alpha1.KWOKNodeClass{}
	if err := c.client.Get(ctx, client.ObjectKey{Name: claim.Spec.NodeClassRef.Name}, class); err != nil {
		return nil, err
	}
	switch class.Annotations[refuses] {
	case "quota":
		return nil, c.quota(class.Name, instanceTypeOf(claim))
	case "forbidden":
		return nil, failed("vm.BeginCreateOrUpdate for VM failed: RESPONSE 403: 403 Forbidden ERROR CODE: AuthorizationFailed " +
			"the client does not have authorization to perform action")
	case "late":
		go func() {
			time.Sleep(lateAfter)
			_ = c.client.Delete(ctx, claim)
		}()
	}
	return c.CloudProvider.Create(ctx, claim)
}

// quota returns the answer of the cloud once, and then that the type is unavailable.
func (c *cloud) quota(class, instanceType string) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if last, known := c.refused[class]; known && time.Since(last) < unavailableFor {
		return cloudprovider.NewInsufficientCapacityError(errors.New("all requested instance types were unavailable during launch"))
	}
	c.refused[class] = time.Now()
	return failed(fmt.Sprintf("subscription level on-demand vCPU quota for %s has been reached "+
		"(may try provision an alternative instance type)", instanceType))
}

func instanceTypeOf(claim *v1.NodeClaim) string {
	for _, each := range claim.Spec.Requirements {
		if each.Key == corev1.LabelInstanceTypeStable && len(each.Values) > 0 {
			return each.Values[0]
		}
	}
	return ""
}

func failed(text string) error {
	return cloudprovider.NewCreateError(fmt.Errorf("creating instance failed, %s", text), "CreateInstanceFailed", text)
}

func main() {
	ctx, op := operator.NewOperator()
	instanceTypes, err := kwok.ConstructInstanceTypes(ctx)
	if err != nil {
		log.FromContext(ctx).Error(err, "failed constructing instance types")
	}
	undecorated := &cloud{
		CloudProvider: kwok.NewCloudProvider(ctx, machines{op.GetClient()}, instanceTypes),
		client:        op.GetClient(),
		refused:       map[string]time.Time{},
	}
	provider := overlay.Decorate(undecorated, op.GetClient(), op.InstanceTypeStore)
	cluster := state.NewCluster(op.Clock, op.GetClient(), provider)
	op.WithControllers(ctx, controllers.NewControllers(
		ctx, op.Manager, op.Clock, op.GetClient(), op.EventRecorder, provider, undecorated, cluster, op.InstanceTypeStore,
	)...).Start(ctx)
}
