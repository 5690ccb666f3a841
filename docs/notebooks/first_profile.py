# %% [markdown]
# # From ready shards to a first profile
#
# Is what a layer can do visible in its definition? Here we write two layers, train them on samples that come with the package, and ask for a verdict. It
# takes less than two minutes on two cores, without a GPU and without a download. All you need is `pip install 'synthprobe[models]'`.

# %%
import json
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import torch

from synthprobe_data import ready_dataset, ready_path
from synthprobe_models import ShardDataset, load_exported

# %% [markdown]
# ## Samples in which every cue is known
#
# Every dataset has a small file that comes with the package. In this one, each picture shows overlapping rectangles, and the task is to rank them by depth. A column has whatever
# was used to make the sample: the label map, who is above whom by which cue, how far one has to look.

# %%
rde = ready_dataset("rde")
sample = rde["test"][7]
print({name: values.shape for name, values in sample.items()})
print(rde["test"].difficulty(7))

figure, (left, right) = plt.subplots(1, 2, figsize=(6, 3), dpi=70)
left.imshow(sample["image"])
left.set_title("picture")
right.imshow(sample["rank"], cmap="gray")
right.set_title("ranks to find")
for axes in (left, right):
    axes.axis("off")
plt.show()

# %% [markdown]
# ## Twins: a question with a known answer for the blind
#
# Twins come in pairs. The two pictures of a pair differ only where their rectangles overlap, which tells who is in front; everywhere else they are equal, but the answers are not. A
# network that does not see that place from afar is right in exactly half of the pixels there, however long it is trained.

# %%
twins = ready_dataset("twins")
one, other = twins["train"][132], twins["train"][133]
differ = (one["image"] != other["image"]).any(-1)
print(f"{len(twins['train'])} samples; in this pair {differ.mean():.1%} of the pixels differ")

figure, rows = plt.subplots(5, 1, figsize=(6, 5.5), dpi=70)
shown = {
    "one twin": one["image"],
    "its ranks": one["rank"],
    "the other twin": other["image"],
    "its ranks ": other["rank"],
    "where the pictures differ": differ,
}
for axes, (title, values) in zip(rows, shown.items(), strict=True):
    axes.imshow(values, cmap="gray")
    axes.set_title(title, fontsize=9)
    axes.axis("off")
plt.tight_layout()
plt.show()

# %% [markdown]
# ## Two layers of our own
#
# A structure is a class that maps (batch, channels, \*positions) to the same shape, under one decorator. One of these hears the means of its row and of its column; the other one
# hears its eight neighbours.

# %%
Path("my_structures.py").write_text("""
from torch import nn

from synthprobe_models import structure


@structure("cross", title="Row and column means")
class Cross(nn.Module):
    def __init__(self, channels, shape):
        super().__init__()
        self.join = nn.Linear(channels, channels)

    def forward(self, x):
        means = sum(x.mean(axis, keepdim=True) for axis in range(2, x.ndim))
        return self.join((x + means).movedim(1, -1)).movedim(-1, 1)


@structure("neighbours", title="A convolution of 3 x 3", dimensions=(2,))
class Neighbours(nn.Module):
    def __init__(self, channels, shape):
        super().__init__()
        self.join = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        return self.join(x)
""")


def synthprobe_probe(*words):
    """The command of this name, as in a terminal; what it says on the way is left out."""
    words = [sys.executable, "-m", "synthprobe_models", *map(str, words)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def show(path, width):
    picture = plt.imread(path)
    plt.figure(figsize=(width, width * picture.shape[0] / picture.shape[1]), dpi=70)
    plt.imshow(picture)
    plt.axis("off")
    plt.tight_layout(pad=0)
    plt.show()


# %% [markdown]
# ## Train each of them once
#
# The probe puts the layer between two local blocks, which see 9 pixels to each side; whatever is known farther away came through our layer. There are only 240 training samples, so we
# pass over them many times. `eval` then draws how often a pixel is right, by its distance from the place where the pictures differ.

# %%
EPOCHS = 24

for name in ("cross", "neighbours"):
    words = ["train", name, "--load", "my_structures.py", "--on", ready_path("twins")]
    words += ["--preset", "quick", "--epochs", EPOCHS, "--threads", 1, "--picture-every", 0]
    print(synthprobe_probe(*words, "--out", f"runs/{name}"), end="")

words = ["eval", "runs/cross", "runs/neighbours", "--load", "my_structures.py"]
synthprobe_probe(*words, "--on", ready_path("twins"), "--plot", "reach.png")
show("reach.png", width=8)

# %% [markdown]
# The local layer is at one half beyond what it can hear, and no training changes that. The other one knows the order far away. Its weights can be exported, loaded, and looked
# at. White is what it takes to be in front; the loss asks for the order alone.

# %%
sys.path.insert(0, "")
import my_structures  # a structure has its name when its file is imported

words = ["export", "runs/cross", "--load", "my_structures.py", "--out", "cross-weights"]
print(synthprobe_probe(*words))
network = load_exported("cross-weights")
test = ShardDataset(ready_path("twins"), "test")
with torch.no_grad():
    found = network(torch.stack([test[0]["image"], test[1]["image"]]))

figure, rows = plt.subplots(4, 1, figsize=(6, 4.5), dpi=70)
for k, title in enumerate(("one twin", "the other twin")):
    ranks = test[k]["target"][0]
    on_rectangles = torch.where(ranks > ranks.min(), found[k, 0], ranks)
    for axes, values, of in zip(
        rows[2 * k :], (ranks, on_rectangles), ("to find", "found"), strict=False
    ):
        axes.imshow(values, cmap="gray", vmin=ranks.min(), vmax=ranks.max())
        axes.set_title(f"{title}: ranks {of}", fontsize=9)
        axes.axis("off")
plt.tight_layout()
plt.show()

# %% [markdown]
# ## Ask for a verdict
#
# One run says little: another seed may do otherwise. A profile trains five and answers by a rule that is written down, with its error rates. It generates the samples that it needs, unless they are
# in its folder `data`: here these are the ready ones, where the preset has 8,000. The page also has what was measured on longer strips, and what can be said of the layer without training.

# %%
Path("profile/data").mkdir(parents=True, exist_ok=True)
shutil.copy(ready_path("twins"), "profile/data/twins.h5")

words = ["profile", "cross", "--load", "my_structures.py", "--probes", "twins", "--out", "profile"]
page = synthprobe_probe(*words, "--epochs", EPOCHS, "--threads", 1)

verdict = json.loads(Path("profile/cross.json").read_text())["abilities"]["twins"]
print(f"{verdict['ability']}: {verdict['answer']}")
print(f"because it {verdict['because']}")
print(f"the rule: {verdict['rule']}")
show("profile/cross.png", width=9)

# %%
print(page.partition("## Without training")[2].partition("##")[0])

# %% [markdown]
# ## Where to go on
#
# Without `--probes` and `--epochs`, `synthprobe-probe profile cross --load my_structures.py --threads 1` asks for all abilities on samples of the usual size, which takes some minutes. What verdicts claim, and
# what they do not, is in the documentation, as are all datasets, structures and commands.
